/** One item on its way into a sink, and what of an outcome becomes rows. */
import { messageOf } from '../domain/failure.ts';
import { readItem } from '../domain/item.ts';
import type { LedgerRecord } from '../domain/task.ts';
import { stringifyPlain } from './csv.ts';

export interface SinkRow {
  /** The ledger's sequence of the outcome; rows are ordered by it and then by `n`. */
  readonly seq: number;
  readonly run: string;
  readonly task: string;
  /** Which of the task's items it is, from 0. */
  readonly n: number;
  readonly scraper: string;
  readonly kind?: string | undefined;
  readonly url?: string | undefined;
  readonly at: string; // ISO 8601
  readonly item: unknown;
  /** The item as JSON. */
  readonly json: string;
}

/** What a sink puts aside, and why. Without an `n`, the whole outcome could not be read. */
export interface Rejected {
  readonly seq: number;
  readonly n?: number | undefined;
  readonly run?: string | undefined;
  readonly task?: string | undefined;
  readonly row?: SinkRow | undefined;
  readonly problem: string;
}

type Done = Extract<LedgerRecord, { state: 'done' }>;

export function rowsOf(
  seq: number,
  { spec, at, result }: Done,
  kinds?: readonly string[],
): { rows: SinkRow[]; rejected: Rejected[] } {
  const rows: SinkRow[] = [];
  const rejected: Rejected[] = [];
  const common = { seq, run: spec.run, task: spec.id };
  for (const [n, stored] of result.items.entries()) {
    const { kind, data } = readItem(stored);
    if (kinds && !(kind !== undefined && kinds.includes(kind))) continue;
    try {
      const json = data === undefined ? 'null' : stringifyPlain(data);
      const { scraper, url } = spec;
      rows.push({ ...common, n, scraper, kind, url, at: new Date(at).toISOString(), item: data, json });
    } catch (error) {
      rejected.push({ ...common, n, problem: `it cannot be written as JSON: ${messageOf(error)}` });
    }
  }
  return { rows, rejected };
}

/** The row as a JSON object; the item's own text is used as it is. */
export function renderRow({ run, task, n, scraper, kind, url, at, json }: SinkRow): string {
  const head = JSON.stringify({ run, task, n, kind, scraper, url, at });
  return `${head.slice(0, -1)},"item":${json}}`;
}

export interface ChunkLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** In order, cut the same way each time; a row beyond the limit has a chunk of its own. */
export function chunksOf(rows: readonly SinkRow[], limits: ChunkLimits): SinkRow[][] {
  const chunks: SinkRow[][] = [];
  let chunk: SinkRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (chunk.length > 0 && (chunk.length >= limits.rows || bytes + row.json.length > limits.bytes)) {
      chunks.push(chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(row);
    bytes += row.json.length;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}
