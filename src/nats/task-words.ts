/**
 * The words by which a worker tells the server what becomes of a delivery. They last as long as the connection: what
 * was taken may be settled long after nothing more is taken.
 */
import type { Connection } from './connect.ts';

export interface TaskWords {
  ack(delivery: { readonly reply: string }): void;
  giveBack(delivery: { readonly reply: string }, delayMs: number): void;
  /** A new lease from now on. */
  extend(delivery: { readonly reply: string; leasedAt: number }): void;
}

const NS_PER_MS = 1_000_000;

export function createTaskWords(connection: Connection): TaskWords {
  const { nc } = connection;
  /** Acknowledgements that could not be sent; without them the tasks would run once more, for nothing. */
  const unsent: string[] = [];
  connection.onChange((up) => {
    if (up) for (const reply of unsent.splice(0)) nc.publish(reply);
  });

  return {
    ack({ reply }) {
      if (connection.isUp()) nc.publish(reply);
      else unsent.push(reply);
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
}
