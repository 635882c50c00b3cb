/**
 * Reads the records of one run in the order of the ledger, and goes on with those to come.
 *
 * One session = one consumer without acknowledgements, read batch by batch: the next batch is asked for when the last
 * has been taken, so a slow reader costs no memory. A session ends at the first doubt (a gap, no heartbeat, the
 * connection gone), and the next one starts behind the last record that was handed out.
 */
import type { JsMsg } from '@nats-io/jetstream';
import { Failure, messageOf } from '../domain/failure.ts';
import type { LedgerRecord } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import { decodeRecord } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import { openSession, pause, pull, readLastSequence, type Session } from './ledger-session.ts';

export interface Followed {
  readonly seq: number;
  readonly record: LedgerRecord;
}

export interface FollowOptions {
  readonly names: Names;
  readonly run: string;
  /** Ends the reading; nothing is handed out after it. */
  readonly signal: AbortSignal;
  /** When this comes, the reader hands out what the ledger has at that time, and ends. */
  readonly over: Promise<unknown>;
}

export async function* followLedger(
  connection: Connection,
  options: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  const { names, run, signal } = options;
  const stream = names.stream('LEDGER');
  const filter = names.ledger(run, '*');
  const state: State = { seq: 0, over: false, target: undefined, stalled: false, wake: () => undefined };
  const wake = (): void => state.wake();
  const end = (): void => {
    state.over = true;
    wake();
  };
  options.over.then(end, end);
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted && !(await isFinished())) yield* readSession();
  } finally {
    signal.removeEventListener('abort', wake);
  }

  /** Whether all is read that was there when it was over. */
  async function isFinished(): Promise<boolean> {
    if (!state.over) return false;
    // Finding the newest record is dear to the server, so it is asked once, and again only when the reading stalls:
    // records come while we read, which bounds nothing, and they may be removed, which would leave us waiting.
    if (state.target === undefined || state.stalled) {
      const last = await readLastSequence(connection, { stream, filter, signal });
      state.target = Math.min(state.target ?? last, last);
      state.stalled = false;
    }
    return hasReachedTarget();
  }

  async function* readSession(): AsyncGenerator<Followed, void, undefined> {
    const session = await openSession(connection, { stream, filter, after: state.seq, signal });
    if (!session) return;
    try {
      yield* readBatches(session);
    } finally {
      session.close();
    }
  }

  async function* readBatches({ consumer }: Session): AsyncGenerator<Followed, void, undefined> {
    let delivered = 0;
    while (!isAborted() && connection.isUp() && !(await isFinished())) {
      const before = delivered;
      const messages = await pull(connection, consumer);
      const cut = { short: false };
      state.wake = () => {
        cut.short = true;
        messages.stop();
      };
      try {
        // The end may have come while the pull was set up, when nobody could be woken.
        if (isAborted() || (await isFinished())) return;
        for await (const message of messages) {
          const { streamSequence, deliverySequence, pending } = message.info;
          if (deliverySequence !== delivered + 1) return;
          delivered = deliverySequence;
          state.seq = streamSequence;
          yield { seq: streamSequence, record: readRecord(message) };
          if (isAborted() || (state.over && (pending === 0 || hasReachedTarget()))) break;
        }
      } catch (error) {
        if (error instanceof Failure) throw error;
        // The server went silent, or does not let us read: not at once again.
        await pause(signal);
        return;
      } finally {
        state.wake = () => undefined;
        messages.stop();
      }
      state.stalled = delivered === before;
      // A pull that was cut short may have taken messages with it.
      if (wasCut(cut)) return;
    }
  }

  function isAborted(): boolean {
    return signal.aborted;
  }

  function hasReachedTarget(): boolean {
    return state.target !== undefined && state.seq >= state.target;
  }
}

function wasCut({ short }: { short: boolean }): boolean {
  return short;
}

interface State {
  seq: number;
  over: boolean;
  /** What must be read before it ends. */
  target: number | undefined;
  /** The last pull brought nothing. */
  stalled: boolean;
  wake: () => void;
}

function readRecord(message: JsMsg): LedgerRecord {
  try {
    return decodeRecord(message.data);
  } catch (cause) {
    throw new Failure('INVALID', `${message.subject} cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: 'If its writer is newer, update this program.',
    });
  }
}
