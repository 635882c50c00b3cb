/**
 * A consumer that one reader makes for itself. It is removed when the reader is done, and when the reader's connection
 * is closed under it; one whose reader could not say goodbye is removed by the server after a while.
 */
import { nanos, nuid } from '@nats-io/nats-core';
import type { ConsumerConfig, ConsumerInfo } from '@nats-io/jetstream';
import type { Connection } from './connect.ts';

export interface TemporaryConsumer {
  /** Once; throws what the server says. */
  make(settings: Partial<ConsumerConfig>): Promise<ConsumerInfo>;
  /** As often as you like. */
  remove(): void;
}

export interface TemporaryPlace {
  readonly stream: string;
  /** What its name begins with. */
  readonly kind: string;
  /** How long it outlives a reader that is not heard of. */
  readonly abandonedMs: number;
}

export function createTemporaryConsumer(
  connection: Connection,
  { stream, kind, abandonedMs }: TemporaryPlace,
): TemporaryConsumer {
  const { nc, js, jsm } = connection;
  const name = `${kind}-${nuid.next()}`;
  let asked = false;
  let removed = false;
  const forget = connection.onClosing(remove);
  return {
    async make(settings) {
      if (removed) throw new Error('removed before it was made');
      asked = true;
      const info = await jsm.consumers.add(stream, {
        ...settings,
        name,
        inactive_threshold: nanos(abandonedMs),
        mem_storage: true,
        num_replicas: 1,
      });
      // Whoever did not wait for it has removed it already; perhaps too early, on a cluster of servers.
      if (isRemoved()) sayGoodbye();
      return info;
    },
    remove,
  };

  function isRemoved(): boolean {
    return removed;
  }

  function remove(): void {
    if (removed) return;
    removed = true;
    forget();
    if (asked) sayGoodbye();
  }

  /** Without an answer: nobody waits for it. */
  function sayGoodbye(): void {
    if (!nc.isClosed()) nc.publish(`${js.apiPrefix}.CONSUMER.DELETE.${stream}.${name}`);
  }
}
