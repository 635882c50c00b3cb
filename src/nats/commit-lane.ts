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
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import type { Connection } from './connect.ts';
import { createBatchDelivery } from './batch-delivery.ts';
import type { Member } from './publisher/batch.ts';
import { EXPECT_HEADER } from './publisher/entry.ts';
import { readLast } from './read-last.ts';

/** A message to store. */
export interface Change {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** The last sequence on the subject; 0 = none yet. Absent: whatever is there is replaced. */
  readonly expect?: number;
}

export type ChangeOutcome =
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
  /** How much of that a change takes, with what goes along because of it. */
  readonly sizeOf?: (change: C) => number;
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

export function createCommitLane<C extends Change>(options: LaneOptions<C>): CommitLane<C> {
  const { connection, stream, marks, batchMax, sizeOf = () => 1, ackTimeoutMs, log } = options;
  const delivery = createBatchDelivery({ connection, stream, ackTimeoutMs, log });
  let queue: Entry<C>[] = [];
  let underWay = 0;
  let running = false;
  void connection.ended.then(close);

  return {
    commit: (change) =>
      new Promise((resolve) => {
        if (delivery.isClosed()) {
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
    if (delivery.isClosed()) return;
    delivery.close();
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
    let size = 0;
    let at = 0;
    for (; at < queue.length && size < batchMax && bytes < BATCH_MAX_BYTES; at += 1) {
      const entry = queue[at];
      if (!entry) break;
      const { subject, payload } = entry.change;
      if (subjects.has(subject)) {
        again.push(entry);
        continue;
      }
      const more = sizeOf(entry.change);
      if (taken.length > 0 && size + more > batchMax) break;
      size += more;
      subjects.add(subject);
      bytes += payload.length;
      taken.push(entry);
    }
    queue = [...again, ...queue.slice(at)];
    return taken;
  }

  async function settle(entries: readonly Entry<C>[]): Promise<void> {
    if (entries.length === 0) return;
    const changes = entries.map(({ change }) => change);
    const extra = marks.of(changes);
    const members = [...changes, ...extra].map(memberOf);
    const answer = await delivery.deliver(members);
    if (answer.kind === 'committed') {
      marks.stored(changes);
      let seq = answer.seq - members.length;
      for (const { resolve } of entries) resolve({ kind: 'stored', seq: (seq += 1) });
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
}

function memberOf({ subject, payload, expect }: Change): Member {
  const headerLines = expect === undefined ? '' : `${EXPECT_HEADER}: ${expect}\r\n`;
  return { message: { subject, payload }, headerLines };
}
