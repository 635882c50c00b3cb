/**
 * The counters of changes that are stored by themselves: one record per run and writer, changed only by
 * compare-and-set, because a writer that died is counted for by others, and one that only slept comes back.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import {
  countFor,
  countGroup,
  deltaOf,
  NOTHING_COUNTED,
  type Counted,
  type WriterCounts,
} from '../policy/counted.ts';
import type { Names } from '../wire/names.ts';
import { decodeCount, encodeCount } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import type { Stored } from './ledger.ts';
import type { Publisher } from './publisher.ts';
import { REFUSED_CONFLICT } from './publisher/answer.ts';

export interface TallyParts {
  readonly connection: Connection;
  readonly names: Names;
  readonly publisher: Pick<Publisher, 'publish'>;
}

export interface LedgerTally {
  ensureCounted(found: Iterable<Stored>): Promise<void>;
  openWriter(writer: string): WriterTally;
}

/** The counters of one writer, told by itself. */
export interface WriterTally {
  /** False when others have changed its counters, or nobody knows: then it must not go on under this name. */
  count(run: string, changes: readonly Counted[], group: number): Promise<boolean>;
}

interface Known {
  readonly seq: number;
  readonly counts: WriterCounts;
}

/** Each time somebody else was faster; and they are as many as found something at the same moment. */
const TRIES_MAX = 200;
const RETRY_MS = 10;
/** Places of which it is remembered up to where they are counted. */
const REMEMBERED_MAX = 10_000;

export function createLedgerTally({ connection, names, publisher }: TallyParts): LedgerTally {
  const stream = names.stream('LEDGER');
  /** By subject, up to which group: what was counted once stays counted. */
  const counted = new Map<string, number>();

  return {
    openWriter(writer) {
      const known = new Map<string, Known>();
      return {
        async count(run, changes, group) {
          const before = known.get(run) ?? { seq: 0, counts: NOTHING_COUNTED };
          const counts = countGroup(before.counts, changes, group);
          const seq = await store(names.count(run, writer), { seq: before.seq, counts });
          if (seq !== undefined) known.set(run, { seq, counts });
          return seq !== undefined;
        },
      };
    },
    async ensureCounted(found) {
      const bySubject = new Map<string, Counted[]>();
      for (const { seq, record, by } of found) {
        if (!by) continue;
        const subject = names.count(record.spec.run, by.writer);
        if (by.group <= (counted.get(subject) ?? 0)) continue;
        const change = { seq, group: by.group, delta: deltaOf(record) };
        if (!bySubject.get(subject)?.push(change)) bySubject.set(subject, [change]);
      }
      await Promise.all([...bySubject].map(([subject, changes]) => countForOther(subject, changes)));
    },
  };

  async function countForOther(subject: string, changes: readonly Counted[]): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const { seq, counts } = await read(subject);
      if (counted.size >= REMEMBERED_MAX) counted.clear();
      counted.set(subject, counts.group);
      const next = countFor(counts, changes);
      if (!next || (await store(subject, { seq, counts: next })) !== undefined) return;
      await delay(RETRY_MS * Math.random());
    }
    throw new Failure('UNAVAILABLE', `others kept changing the counters ${subject}`);
  }

  /** The sequence; undefined when they are no longer what they were, or nobody knows. */
  async function store(subject: string, { seq, counts }: Known): Promise<number | undefined> {
    const outcome = await publisher.publish({ subject, payload: encodeCount(counts), expect: seq });
    if (outcome.kind === 'stored') return outcome.seq;
    if (outcome.kind === 'unknown' || outcome.code === REFUSED_CONFLICT) return undefined;
    throw new Failure('UNAVAILABLE', outcome.reason);
  }

  /** From the leader of the stream: a replica may not have heard of the last change. */
  async function read(subject: string): Promise<Known> {
    const message = await connection.jsm.streams.getMessage(stream, { last_by_subj: subject });
    return message
      ? { seq: message.seq, counts: decodeCount(message.data) }
      : { seq: 0, counts: NOTHING_COUNTED };
  }
}
