/**
 * Whether a change of the ledger is in the counters of its run, and the counters with it.
 *
 * A change that is stored by itself bears the name of its writer and the number of the group that it was stored in. A
 * writer stores one group after the other, and counts each when all of it is stored: `group` is the last one that is in
 * its counters. If it dies in between, whoever finds one of the changes counts that one for it, and names it as an
 * `extra`. Each time the counters are replaced by compare-and-set, so nothing is counted twice; and a record is replaced
 * only when it is counted, so nothing is forgotten.
 */
import { countItems, type LedgerRecord } from '../domain/task.ts';
import { NO_COUNTS, type CountRecord } from './counters.ts';

/** The counters of one writer for one run. */
export interface WriterCounts extends CountRecord {
  readonly group: number;
  /** Sequences of changes of later groups, which somebody else has counted. */
  readonly extra: readonly number[];
}

/** One stored change. */
export interface Counted {
  /** Where it is in the stream. */
  readonly seq: number;
  readonly group: number; // from 1
  readonly delta: Partial<CountRecord>;
}

export const NOTHING_COUNTED: WriterCounts = { ...NO_COUNTS, group: 0, extra: [] };

const NAMES = Object.keys(NO_COUNTS) as (keyof CountRecord)[];

export function isCounted(
  { group, extra }: Pick<WriterCounts, 'group' | 'extra'>,
  change: Pick<Counted, 'seq' | 'group'>,
): boolean {
  return change.group <= group || extra.includes(change.seq);
}

/** For the writer itself, by what it has counted so far, if nobody else has counted for it. */
export function countGroup(before: WriterCounts, changes: readonly Counted[], group: number): WriterCounts {
  return { ...addUp(before, changes), group };
}

/** For somebody else: these alone. Undefined when they are counted already. */
export function countFor(before: WriterCounts, changes: readonly Counted[]): WriterCounts | undefined {
  const open = new Map<number, Counted>();
  for (const change of changes) if (!isCounted(before, change)) open.set(change.seq, change);
  if (open.size === 0) return undefined;
  return { ...addUp(before, open.values()), extra: [...before.extra, ...open.keys()] };
}

/**
 * What a record that was stored by itself adds. Such a one never follows a dead one, and is none: those changes have an
 * entry in the index of dead tasks, and are stored with it and with their counters in one batch.
 */
export function deltaOf(record: LedgerRecord): Partial<CountRecord> {
  switch (record.state) {
    case 'queued':
      return { accepted: 1 };
    case 'done':
      return { done: 1, items: countItems(record.result) };
    case 'dead':
      return { dead: 1 };
    case 'cancelled':
      return { cancelled: 1 };
  }
}

function addUp(before: WriterCounts, changes: Iterable<Counted>): WriterCounts {
  const sum = { ...before };
  for (const { delta } of changes) for (const name of NAMES) sum[name] += delta[name] ?? 0;
  return sum;
}
