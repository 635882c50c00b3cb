/**
 * Gets an atomic batch to a stream until the server has said yes or no to it. After a lost answer the last message of
 * the batch tells: it must be of its sender alone, and never the same twice, so that finding it means that the batch,
 * which is stored as a whole or not at all, was stored.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import type { Connection } from './connect.ts';
import type { Answer } from './publisher/answer.ts';
import { createBatchSender, type Member } from './publisher/batch.ts';

/** What the server said: `seq` is that of the last member. */
export type Known = Extract<Answer, { kind: 'committed' } | { kind: 'refused' }>;

export interface BatchDelivery {
  deliver(members: readonly Member[]): Promise<Known>;
  isClosed(): boolean;
  /** What is still under way is refused. */
  close(): void;
}

export interface BatchDeliveryOptions {
  readonly connection: Connection;
  readonly stream: string;
  readonly ackTimeoutMs: number;
  readonly log: Log;
}

const RETRY_MS = 100;

export function createBatchDelivery(options: BatchDeliveryOptions): BatchDelivery {
  const { connection, stream, ackTimeoutMs, log } = options;
  const sender = createBatchSender({ connection, stream, ackTimeoutMs });
  const closing = new AbortController();
  const isClosed = (): boolean => closing.signal.aborted;
  const unwatch = connection.onChange((up) => {
    if (!up) sender.hush('the connection was lost');
  });

  return {
    deliver,
    isClosed,
    close() {
      closing.abort();
      unwatch();
      sender.hush('closed');
      sender.close();
    },
  };

  async function deliver(members: readonly Member[]): Promise<Known> {
    for (let tries = 0; ; tries += 1) {
      await untilUp();
      if (isClosed()) return { kind: 'refused', code: 0, reason: 'closed' };
      const found = tries === 0 ? undefined : await findLast(members);
      if (found !== undefined) return { kind: 'committed', seq: found, batch: '', count: members.length };
      const answer = await sender.send(members);
      if (answer.kind === 'committed' || answer.kind === 'refused') return answer;
      // A batch of one is a plain message.
      if (answer.kind === 'stored') return { kind: 'committed', seq: answer.seq, batch: '', count: 1 };
      log.warn('commit.unanswered', { stream, messages: members.length, answer: answer.kind });
      await rest();
    }
  }

  /** The sequence of the last member, if it is what the stream holds there: from the leader, because it decides. */
  async function findLast(members: readonly Member[]): Promise<number | undefined> {
    const last = members.at(-1)?.message;
    for (let tries = 0; last && !isClosed(); tries += 1) {
      await untilUp();
      try {
        const stored = await connection.jsm.streams.getMessage(stream, { last_by_subj: last.subject });
        return stored && Buffer.compare(stored.data, last.payload) === 0 ? stored.seq : undefined;
      } catch (error) {
        if (tries === 0) log.warn('commit.unread', { stream, reason: messageOf(error) });
        await rest();
      }
    }
    return undefined;
  }

  async function rest(): Promise<void> {
    await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
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
