/**
 * The words by which a worker tells the server what becomes of a delivery. They last as long as the connection: what
 * was taken may be settled long after nothing more is taken.
 */
import type { Connection } from './connect.ts';
import { encodeFrames, type Frame } from './publisher/frames.ts';

export interface TaskWords {
  ack(delivery: { readonly reply: string }): void;
  giveBack(delivery: { readonly reply: string }, delayMs: number): void;
  /** A new lease from now on. */
  extend(delivery: { readonly reply: string; leasedAt: number }): void;
}

const NS_PER_MS = 1_000_000;

export function createTaskWords(connection: Connection): TaskWords {
  const { nc } = connection;
  /** Acknowledgements of this turn of the loop, or that could not be sent: without them the tasks would run once more, for nothing. */
  let unsent: Frame[] = [];
  connection.onChange(send);

  return {
    ack({ reply: subject }) {
      unsent.push({ subject, payload: NOTHING, headerLines: '' });
      if (unsent.length === 1) queueMicrotask(send);
    },
    giveBack({ reply }, delayMs) {
      const delay = delayMs === 0 ? '' : ` {"delay": ${delayMs * NS_PER_MS}}`;
      if (connection.isUp()) nc.publish(reply, `-NAK${delay}`);
    },
    extend(delivery) {
      if (!connection.isUp()) return;
      nc.publish(delivery.reply, '+WPI');
      delivery.leasedAt = performance.now();
    },
  };

  function send(): void {
    if (unsent.length === 0 || !connection.isUp()) return;
    connection.writeFrames(encodeFrames(unsent, NO_ANSWER), unsent.length);
    unsent = [];
  }
}

const NOTHING = new Uint8Array();
const NO_ANSWER = (): string => '';
