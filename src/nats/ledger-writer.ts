/**
 * Writes the ledger. Each change is a compare-and-set on its task's subject; each batch of changes carries, for every
 * run it touches, this writer's totals of that run. What is counted and what is stored are one write, so the sum over
 * all writers is exact at any moment, whoever dies.
 */
import { randomBytes } from 'node:crypto';
import { countItems, type LedgerRecord } from '../domain/task.ts';
import { NO_COUNTS, type CountRecord } from '../policy/counters.ts';
import type { Log } from '../telemetry/log.ts';
import { encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import { encodeCount, encodeRecord } from '../wire/task-codec.ts';
import { createCommitLane, type Change, type ChangeOutcome, type CommitLane } from './commit-lane.ts';
import type { Connection } from './connect.ts';
import type { DeadMark, LedgerWriter } from './ledger.ts';

export interface LedgerWriterOptions {
  readonly names: Names;
  readonly batchMax: number;
  readonly ackTimeoutMs: number;
  /** Batches under way at once; each lane counts for itself. */
  readonly lanes?: number;
  readonly log: Log;
}

type Totals = { -readonly [Name in keyof CountRecord]: CountRecord[Name] };

/** What one change adds to the totals of its run. */
type Delta = Partial<CountRecord>;

interface LedgerChange extends Change {
  readonly run: string;
  readonly delta: Delta;
  /** The entry in the index of dead tasks that goes with it: set by a death, empty once it is put back. */
  readonly index?: Change;
}

const LANES = 2;
/** A batch of the server's largest size has room for this many runs' totals, and for an index entry per change. */
const RUNS_MAX = 200;
const BATCH_LIMIT = 1_000;
const CHANGES_MAX = (BATCH_LIMIT - RUNS_MAX) / 2;
const NO_LONGER_DEAD = new Uint8Array();
const COUNTED = Object.keys(NO_COUNTS) as (keyof typeof NO_COUNTS)[];

export function createLedgerWriter(connection: Connection, options: LedgerWriterOptions): LedgerWriter {
  const { names, log } = options;
  const life = randomBytes(9).toString('base64url');
  const lanes = Array.from({ length: options.lanes ?? LANES }, (_, index) => createLane(`${life}-${index}`));
  let turn = 0;

  return {
    accept: (record) =>
      commit(record, 0, record.state === 'dead' ? { accepted: 1, dead: 1 } : { accepted: 1 }),
    settle: (outcome, acceptSeq) =>
      commit(outcome, acceptSeq, {
        [outcome.state]: 1,
        ...(outcome.state === 'done' ? { items: countItems(outcome.result) } : {}),
      }),
    redrive: (record, deadSeq) => commit(record, deadSeq, { redriven: 1 }, NO_LONGER_DEAD),
    drop: (outcome, deadSeq) => commit(outcome, deadSeq, { redriven: 1, cancelled: 1 }, NO_LONGER_DEAD),
    pending: () => lanes.reduce((sum, lane) => sum + lane.pending(), 0),
    close: () => lanes.forEach((lane) => lane.close()),
  };

  function commit(
    record: LedgerRecord,
    expect: number,
    delta: Delta,
    mark = deadMark(record),
  ): Promise<ChangeOutcome> {
    const { run, id } = record.spec;
    const change = { run, subject: names.ledger(run, id), payload: encodeRecord(record), expect, delta };
    return nextLane().commit(
      mark ? { ...change, index: { subject: names.dead(run, id), payload: mark } } : change,
    );
  }

  function nextLane(): CommitLane<LedgerChange> {
    turn = (turn + 1) % lanes.length;
    return lanes[turn] as CommitLane<LedgerChange>;
  }

  function createLane(writer: string): CommitLane<LedgerChange> {
    const totals = new Map<string, CountRecord>();
    return createCommitLane<LedgerChange>({
      connection,
      stream: names.stream('LEDGER'),
      batchMax: Math.min(options.batchMax, CHANGES_MAX),
      ackTimeoutMs: options.ackTimeoutMs,
      log,
      marks: {
        // The totals come last: the last message of a batch tells whether it was stored, and these are never the same twice.
        of: (changes) => [
          ...changes.flatMap(({ index }) => index ?? []),
          ...[...addUp(totals, changes)].map(([run, counts]) => ({
            subject: names.count(run, writer),
            payload: encodeCount({ ...counts, recent: [] }),
          })),
        ],
        stored(changes) {
          for (const [run, counts] of addUp(totals, changes)) totals.set(run, counts);
        },
      },
    });
  }
}

function deadMark(record: LedgerRecord): Uint8Array | undefined {
  if (record.state !== 'dead') return undefined;
  const { spec, at, error, original } = record;
  const unreadable = original === undefined ? {} : { unreadable: true };
  return encodeJson({ scraper: spec.scraper, at, ...error, ...unreadable } satisfies DeadMark);
}

/** The totals of each run that these changes touch, with them. */
function addUp(
  totals: ReadonlyMap<string, CountRecord>,
  changes: readonly LedgerChange[],
): Map<string, Totals> {
  const sums = new Map<string, Totals>();
  for (const { run, delta } of changes) {
    let sum = sums.get(run);
    if (!sum) sums.set(run, (sum = { ...(totals.get(run) ?? NO_COUNTS) }));
    for (const name of COUNTED) sum[name] += delta[name] ?? 0;
  }
  return sums;
}
