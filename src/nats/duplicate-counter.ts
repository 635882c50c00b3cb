/**
 * Counts duplicates: those of one intake message in one run once, whoever has the message and however often.
 *
 * Each writer counts under a subject of its own, with the messages that are in its count. Beside it every run has one
 * `turn`, which each count replaces by compare-and-set, in the same atomic batch. Whoever counts first reads the turn
 * and all counts; when somebody else has counted since, the server refuses the batch, and all is read again. So it
 * does not matter how long anybody slept between two of these steps: what a successor counted is either seen or
 * refused. Only of messages that are older than all that the counts remember this cannot be said; `mayCount` answers
 * for those, and is asked after the reading, so that whatever happens after the answer is refused.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { NOTHING_COUNTED } from '../policy/counted.ts';
import type { Log } from '../telemetry/log.ts';
import type { Names } from '../wire/names.ts';
import { decodeCount, encodeCount, type CountRecord } from '../wire/task-codec.ts';
import { createCommitLane, type Change } from './commit-lane.ts';
import type { Connection } from './connect.ts';
import { readLast } from './read-last.ts';

export interface DuplicateCount {
  readonly run: string;
  readonly duplicates: number;
  /** Sequence of the message that had them. */
  readonly intake: number;
  /** Whether the message is still ours to count. */
  readonly mayCount: () => boolean;
}

export interface DuplicateCounter {
  /** True when they are counted, now or before; false when they were not ours to count. */
  count(count: DuplicateCount): Promise<boolean>;
  close(): void;
}

export interface DuplicateCounterOptions {
  readonly names: Names;
  readonly ackTimeoutMs: number;
  readonly log: Log;
}

interface Entry {
  readonly count: DuplicateCount;
  readonly resolve: (counted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

interface Group extends Change {
  readonly run: string;
  readonly counts: readonly DuplicateCount[];
}

const TURN = 'turn';
const NOTHING: CountRecord = { ...NOTHING_COUNTED, recent: [] };
const TURN_RECORD = encodeCount(NOTHING);
/** Messages that are counted in one write. */
const GROUP_MAX = 256;
/** Messages that a count remembers: more than its writer can have unacknowledged. */
const RECENT_MAX = 2_048;
const TRIES_MAX = 100;
const RETRY_MS = 10;

export function createDuplicateCounter(
  connection: Connection,
  { names, ackTimeoutMs, log }: DuplicateCounterOptions,
): DuplicateCounter {
  const stream = names.stream('LEDGER');
  const writer = `${randomBytes(9).toString('base64url')}-d`;
  const totals = new Map<string, CountRecord>();
  const lines = new Map<string, Entry[]>();
  const lane = createCommitLane<Group>({
    connection,
    stream,
    batchMax: GROUP_MAX,
    ackTimeoutMs,
    log,
    marks: {
      of: (groups) =>
        groups.map((group) => ({
          subject: names.count(group.run, writer),
          payload: encodeCount(withGroup(group)),
        })),
      stored(groups) {
        for (const group of groups) totals.set(group.run, withGroup(group));
      },
    },
  });

  return {
    count: (count) =>
      new Promise((resolve, reject) => {
        const line = lines.get(count.run) ?? [];
        line.push({ count, resolve, reject });
        if (lines.has(count.run)) return;
        lines.set(count.run, line);
        void work(count.run, line);
      }),
    close: () => lane.close(),
  };

  /** What comes while a count of the same run is under way goes together into the next one. */
  async function work(run: string, line: Entry[]): Promise<void> {
    while (line.length > 0) {
      const entries = line.splice(0, GROUP_MAX);
      try {
        await settle(run, entries);
      } catch (error) {
        for (const { reject } of entries) reject(error);
      }
    }
    lines.delete(run);
  }

  async function settle(run: string, entries: readonly Entry[]): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const { turn, counted } = await read(run);
      const open: Entry[] = [];
      for (const entry of entries) {
        if (counted.has(entry.count.intake)) entry.resolve(true);
        else if (!entry.count.mayCount()) entry.resolve(false);
        else open.push(entry);
      }
      if (open.length === 0) return;
      const counts = open.map(({ count }) => count);
      const subject = names.count(run, TURN);
      const outcome = await lane.commit({ run, subject, payload: TURN_RECORD, expect: turn, counts });
      if (outcome.kind === 'failed') throw new Failure('UNAVAILABLE', outcome.reason);
      if (outcome.kind === 'stored') {
        for (const { resolve } of open) resolve(true);
        return;
      }
      await delay(RETRY_MS * Math.random());
    }
    throw new Failure('UNAVAILABLE', `others kept counting the duplicates of run ${run}`);
  }

  /** In one answer: a turn that is too old for the counts beside it is refused, and never the other way round. */
  async function read(run: string): Promise<{ turn: number; counted: ReadonlySet<number> }> {
    const last = await readLast(connection, { stream, subjects: [names.count(run, '*')] });
    const records = [...last.values()].map(({ data }) => decodeCount(data));
    return {
      turn: last.get(names.count(run, TURN))?.seq ?? 0,
      counted: new Set(records.flatMap(({ recent }) => recent)),
    };
  }

  function withGroup({ run, counts }: Group): CountRecord {
    const before = totals.get(run) ?? NOTHING;
    return {
      ...before,
      duplicates: counts.reduce((sum, { duplicates }) => sum + duplicates, before.duplicates),
      recent: [...before.recent, ...counts.map(({ intake }) => intake)].slice(-RECENT_MAX),
    };
  }
}
