/** What `trawl try` tells, for a person and for a script. */
import { DIRECT, type ProxyAddress } from '../domain/egress.ts';
import { describeProxyAddress } from '../domain/proxy-address.ts';
import type { OnceOutcome } from '../testing/run-once.ts';
import type { SeenRequest } from '../testing/recorded-engine.ts';
import { renderTable } from './table.ts';

export interface TryReport {
  readonly scraper: string;
  readonly file: string;
  readonly url: string | undefined;
  /** Through which all of it went; absent: from this machine's own address. */
  readonly proxy: ProxyAddress | undefined;
  readonly requests: readonly SeenRequest[];
  readonly outcome: OnceOutcome;
}

const LINES_MAX = 20;
const STACK_LINES = 6;

export function describeTry(report: TryReport): { value: object; text: string } {
  const { requests, outcome, scraper, file } = report;
  const { result, enqueued, error, ms } = outcome;
  const egress = report.proxy ? describeProxyAddress(report.proxy) : DIRECT;
  const value = {
    scraper,
    file,
    url: report.url ?? null,
    ok: error === undefined,
    ms: Math.round(ms),
    egress,
    requests: requests.map(({ method, url, egress, atMs, ms, status, firstByteMs, bytes, error }) => ({
      method,
      url,
      status,
      egress,
      atMs: Math.round(atMs - (requests[0]?.atMs ?? 0)),
      ms: Math.round(ms),
      firstByteMs: firstByteMs === undefined ? undefined : Math.round(firstByteMs),
      bytes,
      error,
    })),
    items: result?.items ?? [],
    ...(result?.total !== undefined && {
      published: result.published,
      total: result.total,
      errors: result.errors,
      badItems: result.badItems ?? [],
    }),
    data: result?.data ?? null,
    enqueued,
    error: error ?? null,
  };
  const parts = [
    `${scraper} (${file}): ${error ? 'failed' : 'done'} after ${Math.round(ms)} ms`,
    `Egress: ${report.proxy ? egress : "this machine's own address"}`,
    section('Requests', requests.length, requestTable(requests)),
    section('Items', value.items.length, lines(value.items)),
    ...(result?.badItems
      ? [section('Bad items', result.errors ?? 0, lines(result.badItems.map(({ problem }) => problem)))]
      : []),
    ...(result?.data === undefined ? [] : [`Returned: ${show(result.data)}`]),
    ...(enqueued.length === 0 ? [] : [section('Would enqueue', enqueued.length, lines(enqueued))]),
    ...(error ? [`Error: ${error.code}: ${error.message}${stackOf(outcome)}`] : []),
  ];
  return { value, text: parts.join('\n\n') };
}

function section(title: string, count: number, body: string): string {
  return count === 0 ? `${title}: none` : `${title}: ${count}\n${body}`;
}

function requestTable(requests: readonly SeenRequest[]): string {
  return renderTable(
    ['METHOD', 'STATUS', 'MS', 'BYTES', 'EGRESS', 'URL'],
    requests.map(({ method, status, ms, bytes, egress, url, error }) => [
      method,
      status === undefined ? (error?.code ?? '') : String(status),
      String(Math.round(ms)),
      String(bytes ?? 0),
      egress,
      url,
    ]),
  );
}

function lines(values: readonly unknown[]): string {
  const shown = values.slice(0, LINES_MAX).map((value) => `  ${show(value)}`);
  const left = values.length - shown.length;
  return [...shown, ...(left > 0 ? [`  … and ${left} more (--json shows all)`] : [])].join('\n');
}

function show(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
  } catch {
    return String(value);
  }
}

/** Where in the handler it was, if it is a mistake of the handler. */
function stackOf({ error, cause }: OnceOutcome): string {
  if (error?.code !== 'INTERNAL' || !(cause instanceof Error)) return '';
  const frames = (cause.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, STACK_LINES)
    .map((line) => `\n${line}`)
    .join('');
}
