/**
 * Commits changes of a stream in atomic batches, one batch at a time, each together with a marker.
 *
 * What waits while a batch is under way goes into the next one, so a busy lane writes large batches and an idle one
 * writes at once. The marker is a message of this lane alone, new in each batch: after a lost answer it tells whether
 * the batch was stored, as a whole, which is the only way an atomic batch can be stored. So no outcome is ever
 * assumed, and none stays unknown while the server is there.
 *
 * A batch is refused as a whole when one of its changes expects the wrong sequence. Those are found by reading the
 * subjects, and told `refused`; the rest is sent again. Should the reading not show them (it may be a moment old),
 * the batch is halved until the server's answer names them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import type { Connection } from './connect.ts';
import type { Answer } from './publisher/answer.ts';
import { createBatchSender, type Member } from './publisher/batch.ts';
import { EXPECT_HEADER } from './publisher/entry.ts';
import { readLast } from './read-last.ts';

/** A message to store; without a payload it is a note, which changes nothing but the marks. */
export interface Change {
  readonly subject: string;
  readonly payload?: Uint8Array;
  /** The last sequence on the subject; 0 = none yet. Absent: whatever is there is replaced. */
  readonly expect?: number;
}

export type ChangeOutcome =
  /** The sequence of a note is that of the marks it went with. */
  | { readonly kind: 'stored'; readonly seq: number }
  /** Somebody else was first: the subject is no longer at the expected sequence. */
  | { readonly kind: 'refused' }
  /** The stream does not take it (it is full, or the lane was closed): nothing was stored. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface Marks<C> {
  /** What goes with a batch of these changes; asked again when they are sent again in other company. At least one. */
  of(changes: readonly C[]): readonly Change[];
  /** That batch is stored. */
  stored(changes: readonly C[]): void;
}

export interface LaneOptions<C extends Change> {
  readonly connection: Connection;
  readonly stream: string;
  readonly marks: Marks<C>;
  readonly batchMax: number;
  readonly ackTimeoutMs: number;
  readonly log: Log;
}

export interface CommitLane<C extends Change> {
  commit(change: C): Promise<ChangeOutcome>;
  pending(): number;
  /** What is still under way fails. */
  close(): void;
}

interface Entry<C> {
  readonly change: C;
  readonly resolve: (outcome: ChangeOutcome) => void;
}

/** The server's codes for a wrong expected sequence: of one message, and inside one batch. */
const WRONG_SEQUENCE = new Set([10071, 10164]);
const BATCH_MAX_BYTES = 2 * 1024 * 1024;
const RETRY_MS = 100;
const SWEEP_MAX_MS = 500;

export function createCommitLane<C extends Change>(options: LaneOptions<C>): CommitLane<C> {
  const { connection, stream, marks, batchMax, ackTimeoutMs, log } = options;
  const sender = createBatchSender({ connection, stream, ackTimeoutMs });
  const closing = new AbortController();
  const isClosed = (): boolean => closing.signal.aborted;
  const sweeper = setInterval(
    () => sender.sweep(performance.now()),
    Math.min(ackTimeoutMs / 4, SWEEP_MAX_MS),
  ).unref();
  const unwatch = connection.onChange((up) => {
    if (!up) sender.hush('the connection was lost');
  });
  let queue: Entry<C>[] = [];
  let underWay = 0;
  let running = false;
  void connection.ended.then(close);

  return {
    commit: (change) =>
      new Promise((resolve) => {
        if (isClosed()) {
          resolve({ kind: 'failed', reason: 'closed' });
          return;
        }
        queue.push({ change, resolve });
        if (!running) void run();
      }),
    pending: () => queue.length + underWay,
    close,
  };

  function close(): void {
    if (isClosed()) return;
    closing.abort();
    clearInterval(sweeper);
    unwatch();
    sender.hush('closed');
    sender.close();
    for (const { resolve } of queue.splice(0)) resolve({ kind: 'failed', reason: 'closed' });
  }

  async function run(): Promise<void> {
    running = true;
    // Whatever is asked for in this turn of the loop travels together.
    await Promise.resolve();
    while (queue.length > 0) {
      const entries = take();
      underWay = entries.length;
      await settle(entries);
      underWay = 0;
    }
    running = false;
  }

  /** The next batch: as many as fit, each subject once. */
  function take(): Entry<C>[] {
    const taken: Entry<C>[] = [];
    const again: Entry<C>[] = [];
    const subjects = new Set<string>();
    let bytes = 0;
    let at = 0;
    for (; at < queue.length && taken.length < batchMax && bytes < BATCH_MAX_BYTES; at += 1) {
      const entry = queue[at];
      if (!entry) break;
      const { subject, payload } = entry.change;
      if (subjects.has(subject)) {
        again.push(entry);
        continue;
      }
      if (payload) subjects.add(subject);
      bytes += payload?.length ?? 0;
      taken.push(entry);
    }
    queue = [...again, ...queue.slice(at)];
    return taken;
  }

  async function settle(entries: readonly Entry<C>[]): Promise<void> {
    if (entries.length === 0) return;
    const changes = entries.map(({ change }) => change);
    const extra = marks.of(changes);
    const members = [...changes, ...extra].flatMap(membersOf);
    const answer = await sendUntilKnown(members);
    if (answer.kind === 'committed') {
      marks.stored(changes);
      let seq = answer.seq - members.length;
      for (const { change, resolve } of entries)
        resolve({ kind: 'stored', seq: change.payload ? ++seq : answer.seq });
    } else if (WRONG_SEQUENCE.has(answer.code)) {
      await separate(entries);
    } else {
      for (const { resolve } of entries) resolve({ kind: 'failed', reason: answer.reason });
    }
  }

  /** Finds who made the server refuse the batch, and settles the others without them. */
  async function separate(entries: readonly Entry<C>[]): Promise<void> {
    const [only] = entries;
    if (entries.length === 1 && only) {
      only.resolve({ kind: 'refused' });
      return;
    }
    const stale = await findStale(entries);
    if (stale.size === 0) {
      const half = entries.length >> 1;
      await settle(entries.slice(0, half));
      return settle(entries.slice(half));
    }
    for (const { resolve } of stale) resolve({ kind: 'refused' });
    return settle(entries.filter((entry) => !stale.has(entry)));
  }

  async function findStale(entries: readonly Entry<C>[]): Promise<Set<Entry<C>>> {
    const subjects = entries.map(({ change }) => change.subject);
    try {
      const last = await readLast(connection, { stream, subjects });
      const isStale = ({ subject, expect }: Change): boolean =>
        expect !== undefined && (last.get(subject)?.seq ?? 0) !== expect;
      return new Set(entries.filter(({ change }) => isStale(change)));
    } catch (error) {
      log.warn('commit.unread', { stream, reason: messageOf(error) });
      return new Set();
    }
  }

  type Known = Extract<Answer, { kind: 'committed' } | { kind: 'refused' }>;

  /** Sends until the server has said yes or no, or until the batch's own marker is seen in the stream. */
  async function sendUntilKnown(members: readonly Member[]): Promise<Known> {
    for (let tries = 0; ; tries += 1) {
      await untilUp();
      if (isClosed()) return { kind: 'refused', code: 0, reason: 'closed' };
      const found = tries === 0 ? undefined : await findMarker(members);
      if (found !== undefined) return { kind: 'committed', seq: found, batch: '', count: members.length };
      const answer = await sender.send(members);
      if (answer.kind === 'committed' || answer.kind === 'refused') return answer;
      // A batch of one is a plain message.
      if (answer.kind === 'stored') return { kind: 'committed', seq: answer.seq, batch: '', count: 1 };
      log.warn('commit.unanswered', { stream, messages: members.length, answer: answer.kind });
      await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  /** The sequence of the last member, if it is what the stream holds there: from the leader, because it decides. */
  async function findMarker(members: readonly Member[]): Promise<number | undefined> {
    const marker = members.at(-1)?.message;
    for (let tries = 0; marker && !isClosed(); tries += 1) {
      await untilUp();
      try {
        const stored = await connection.jsm.streams.getMessage(stream, { last_by_subj: marker.subject });
        return stored && Buffer.compare(stored.data, marker.payload) === 0 ? stored.seq : undefined;
      } catch (error) {
        if (tries === 0) log.warn('commit.unread', { stream, reason: messageOf(error) });
        await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async function untilUp(): Promise<void> {
    while (!connection.isUp() && !isClosed()) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          forget();
          closing.signal.removeEventListener('abort', wake);
          resolve();
        };
        const forget = connection.onChange(wake);
        closing.signal.addEventListener('abort', wake, { once: true });
      });
    }
  }
}

function membersOf({ subject, payload, expect }: Change): Member[] {
  if (!payload) return [];
  const headerLines = expect === undefined ? '' : `${EXPECT_HEADER}: ${expect}\r\n`;
  return [{ message: { subject, payload }, headerLines }];
}
