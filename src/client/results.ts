/** The outcomes of a run's tasks, as they come. */
import { asFailure, Failure } from '../domain/failure.ts';
import type { Fault, Outcome } from '../domain/task.ts';
import { readBlob } from '../nats/blobs.ts';
import type { Bucket } from '../nats/bucket.ts';
import type { Connection } from '../nats/connect.ts';
import { followLedger } from '../nats/ledger-follow.ts';
import { keys, type Names } from '../wire/names.ts';
import { decodeEmitted } from '../wire/task-codec.ts';
import { unknownRun, whenEnded } from './run-end.ts';

/** One settled task. */
export interface TaskOutcome {
  readonly id: string;
  readonly run: string;
  readonly scraper: string;
  readonly state: 'done' | 'dead' | 'cancelled';
  readonly url?: string;
  readonly key?: string;
  readonly at: number; // epoch ms
  readonly items: readonly unknown[];
  /** What the scraper returned. */
  readonly data?: unknown;
  /** Why it is dead, or was cancelled. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly faults: readonly Fault[];
}

export interface ResultsOptions {
  /** For all of it; then it throws `TIMEOUT`. Without it, it waits for as long as the run lasts. */
  readonly timeoutMs?: number | undefined;
  /** Only what is settled by now, without waiting for the end of the run. */
  readonly settledOnly?: boolean | undefined;
}

export interface ResultsPorts {
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly names: Names;
}

/**
 * Each settled task once, in the order in which they settled, the dead and the cancelled among them. Ends when the
 * run has ended and all is told. A dead task that a person puts back is told again when it settles again.
 */
export async function* readResults(
  { connection, bucket, names }: ResultsPorts,
  run: string,
  { timeoutMs, settledOnly = false }: ResultsOptions = {},
): AsyncGenerator<TaskOutcome, void, undefined> {
  const enough = new AbortController();
  const late = createLate(timeoutMs, enough);
  const over = settledOnly ? requireRun(bucket, run) : whenEnded(bucket, run, enough.signal);
  let failure: Failure | undefined;
  // There is nothing to wait for in a run that does not exist.
  over.catch((error: unknown) => {
    failure = asFailure(error);
    enough.abort();
  });
  try {
    for await (const { record } of followLedger(connection, { names, run, signal: enough.signal, over })) {
      if (record.state === 'queued') continue;
      yield describeOutcome(await withEmitted({ connection, names }, record));
      if (late.passed()) break;
    }
  } finally {
    late.forget();
    enough.abort();
  }
  if (late.passed()) throw tookTooLong(run, timeoutMs ?? 0);
  if (failure !== undefined) throw failure;
}

interface Late {
  passed(): boolean;
  forget(): void;
}

function createLate(timeoutMs: number | undefined, enough: AbortController): Late {
  if (timeoutMs === undefined) return { passed: () => false, forget: () => undefined };
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    enough.abort();
  }, timeoutMs);
  return { passed: () => passed, forget: () => clearTimeout(timer) };
}

export function tookTooLong(run: string, timeoutMs: number): Failure {
  return new Failure('TIMEOUT', `run ${run} has not ended within ${timeoutMs} ms`, {
    hint: `\`trawl watch ${run}\` shows how far it is.`,
  });
}

export async function requireRun(bucket: Bucket, run: string): Promise<void> {
  if (!(await bucket.get(keys.run(run)))) throw unknownRun(run);
}

/** What was too large for the record, read back into it. */
export async function withEmitted(
  { connection, names }: Pick<ResultsPorts, 'connection' | 'names'>,
  record: Outcome,
): Promise<Outcome> {
  if (record.state !== 'done' || !record.result.blob) return record;
  const { blob, ...result } = record.result;
  const bytes = await readBlob(connection, names, { owner: record.spec, ref: blob });
  return { ...record, result: { ...result, ...decodeEmitted(bytes) } };
}

function describeOutcome(record: Outcome): TaskOutcome {
  const { spec, state, at, faults } = record;
  const { id, run, scraper, url, key } = spec;
  return {
    id,
    run,
    scraper,
    state,
    ...(url !== undefined && { url }),
    ...(key !== undefined && { key }),
    at,
    items: record.state === 'done' ? record.result.items : [],
    ...(record.state === 'done' && record.result.data !== undefined && { data: record.result.data }),
    ...(record.state === 'dead' && { error: record.error }),
    ...(record.state === 'cancelled' && { error: { code: 'CANCELLED', message: record.reason } }),
    faults,
  };
}
