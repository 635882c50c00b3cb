/** Metrics as Prometheus reads them, from plain data: what is not known has no line, instead of an old one or a zero. */
import type { DurationSums } from '../domain/tally.ts';
import { DURATION_BOUNDS_S } from '../domain/tally.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Line {
  readonly labels?: Labels;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly lines: readonly Line[];
}

export interface DurationFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'histogram';
  readonly sums: DurationSums;
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function renderFamilies(families: readonly (Family | DurationFamily)[]): string {
  return families.map(renderFamily).join('');
}

function renderFamily(family: Family | DurationFamily): string {
  const { name, help, type } = family;
  const lines = type === 'histogram' ? durationLines(family) : valueLines(family);
  if (lines.length === 0) return '';
  return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function valueLines({ name, lines }: Family): string[] {
  return lines.map(({ labels = {}, value }) => `${name}${renderLabels(labels)} ${renderValue(value)}`);
}

function durationLines({ name, sums }: DurationFamily): string[] {
  let seen = 0;
  const buckets = [...DURATION_BOUNDS_S, Infinity].map((bound, index) => {
    seen += sums.counts[index] ?? 0;
    return `${name}_bucket{le="${renderValue(bound)}"} ${seen}`;
  });
  return [...buckets, `${name}_sum ${renderValue(sums.seconds)}`, `${name}_count ${seen}`];
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function renderValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
