/**
 * `trawl split`: a list of tasks in parts. The list is read twice, first for its hosts and how many tasks each has, then
 * to write each line where its host belongs: it may be larger than memory.
 */
import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import { parse } from 'node:path';
import { Failure, messageOf } from '../../domain/failure.ts';
import { hostOf, normalizeUrl } from '../../domain/url.ts';
import { partitionHosts, type Partitioning } from '../../policy/partition.ts';
import { readText, readWhole, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { readLines } from '../read-lines.ts';
import { renderTable } from '../table.ts';

const SHARDS_MAX = 1_000;
const REJECTED_SHOWN_MAX = 10;

export async function run({ argv, output }: CommandContext): Promise<ExitCode> {
  const file = requireText(argv, 'file', 'Name the file with the list.');
  const shards = readWhole(argv, 'shards', { min: 1, max: SHARDS_MAX }) ?? 1;
  const weights = new Map<string, number>();
  const rejected: number[] = [];
  for await (const { number, host } of hostsIn(file)) {
    if (host === undefined) rejected.push(number);
    else weights.set(host, (weights.get(host) ?? 0) + 1);
  }
  const hosts = [...weights].map(([host, weight]) => ({ host, weight }));
  const shardOf = partitionHosts(hosts, shards, readText(argv, 'by') as Partitioning);
  const { dir, name, ext } = parse(file);
  const parts = Array.from({ length: shards }, (_, index) => ({
    file: `${dir === '' ? '' : `${dir}/`}${name}-${index + 1}${ext}`,
    hosts: hosts.filter(({ host }) => shardOf.get(host) === index).length,
    tasks: hosts.reduce((sum, { host, weight }) => sum + (shardOf.get(host) === index ? weight : 0), 0),
  }));
  await writeParts(file, parts, (host) => shardOf.get(host) ?? 0);
  output.result({ parts, rejected }, [renderParts(parts), ...describeRejected(rejected)].join('\n'));
  return rejected.length > 0 ? EXIT.failure : EXIT.ok;
}

interface HostLine {
  readonly number: number;
  readonly text: string;
  /** Undefined: no task with a URL. */
  readonly host: string | undefined;
}

async function* hostsIn(file: string): AsyncGenerator<HostLine> {
  for await (const { number, text } of readLines(file))
    if (text !== '' && !text.startsWith('#')) yield { number, text, host: hostIn(text) };
}

function hostIn(text: string): string | undefined {
  try {
    const url: unknown = text.startsWith('{') ? (JSON.parse(text) as { url?: unknown }).url : text;
    return typeof url === 'string' ? hostOf(normalizeUrl(url)) : undefined;
  } catch {
    return undefined;
  }
}

async function writeParts(
  file: string,
  parts: readonly { readonly file: string }[],
  shardOf: (host: string) => number,
): Promise<void> {
  const streams = parts.map((part) => createWriteStream(part.file));
  const failed = new Promise<never>((_, reject) => {
    for (const stream of streams) stream.once('error', reject);
  });
  try {
    await Promise.race([copy(file, streams, shardOf), failed]);
  } catch (cause) {
    for (const stream of streams) stream.destroy();
    throw new Failure('INVALID', `the parts of ${file} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

async function copy(
  file: string,
  streams: readonly WriteStream[],
  shardOf: (host: string) => number,
): Promise<void> {
  for await (const { text, host } of hostsIn(file)) {
    const stream = host === undefined ? undefined : streams[shardOf(host)];
    if (stream && !stream.write(`${text}\n`)) await once(stream, 'drain');
  }
  await Promise.all(streams.map((stream) => once(stream.end(), 'close')));
}

function renderParts(
  parts: readonly { readonly file: string; readonly hosts: number; readonly tasks: number }[],
): string {
  return renderTable(
    ['PART', 'HOSTS', 'TASKS'],
    parts.map(({ file, hosts, tasks }) => [file, String(hosts), String(tasks)]),
  );
}

function describeRejected(rejected: readonly number[]): string[] {
  if (rejected.length === 0) return [];
  const shown = rejected.slice(0, REJECTED_SHOWN_MAX).join(', ');
  const more = rejected.length > REJECTED_SHOWN_MAX ? ', …' : '';
  return ['', `in no part, because they have no URL: line ${shown}${more}`];
}
