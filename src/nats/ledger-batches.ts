/**
 * Changes of the ledger in atomic batches: each carries, for every run it touches, the totals that its writer has
 * stored in that way. What is counted and what is stored are one write.
 */
import { NO_COUNTS, type CountRecord } from '../policy/counters.ts';
import type { Log } from '../telemetry/log.ts';
import type { Names } from '../wire/names.ts';
import { encodeCount } from '../wire/task-codec.ts';
import { createCommitLane, type Change, type CommitLane } from './commit-lane.ts';
import type { Connection } from './connect.ts';

export interface CountedChange extends Change {
  readonly run: string;
  /** What it adds to the totals of its run. */
  readonly delta: Partial<CountRecord>;
  /** The entry in the index of dead tasks that goes with it: set by a death, empty once it is put back. */
  readonly index?: Change;
}

export interface LedgerBatchOptions {
  readonly names: Names;
  /** Nobody else's, in any life. */
  readonly writer: string;
  readonly batchMax: number;
  readonly ackTimeoutMs: number;
  readonly log: Log;
}

type Totals = { -readonly [Name in keyof CountRecord]: CountRecord[Name] };

/** A batch of the server's largest size has room for this many runs' totals beside the changes. */
const RUNS_MAX = 200;
const BATCH_LIMIT = 1_000;
const COUNTED = Object.keys(NO_COUNTS) as (keyof typeof NO_COUNTS)[];

export function createLedgerBatches<C extends CountedChange>(
  connection: Connection,
  { names, writer, batchMax, ackTimeoutMs, log }: LedgerBatchOptions,
): CommitLane<C> {
  const totals = new Map<string, CountRecord>();
  return createCommitLane<C>({
    connection,
    stream: names.stream('LEDGER'),
    batchMax: Math.min(batchMax, BATCH_LIMIT - RUNS_MAX),
    sizeOf: ({ index }) => (index ? 2 : 1),
    ackTimeoutMs,
    log,
    marks: {
      // The totals come last: the last message of a batch tells whether it was stored, and these are never the same twice.
      of: (changes) => [
        ...changes.flatMap(({ index }) => index ?? []),
        ...[...addUp(totals, changes)].map(([run, counts]) => ({
          subject: names.count(run, writer),
          payload: encodeCount(counts),
        })),
      ],
      stored(changes) {
        for (const [run, counts] of addUp(totals, changes)) totals.set(run, counts);
      },
    },
  });
}

/** The totals of each run that these changes touch, with them. */
function addUp(
  totals: ReadonlyMap<string, CountRecord>,
  changes: readonly CountedChange[],
): Map<string, Totals> {
  const sums = new Map<string, Totals>();
  for (const { run, delta } of changes) {
    let sum = sums.get(run);
    if (!sum) sums.set(run, (sum = { ...(totals.get(run) ?? NO_COUNTS) }));
    for (const name of COUNTED) sum[name] += delta[name] ?? 0;
  }
  return sums;
}
