/** The process of the bare loop; see bare-loop.ts. */
import { AckPolicy, DiscardPolicy, RetentionPolicy, type JsMsg } from '@nats-io/jetstream';
import { connectNats } from '../../../src/nats/connect.ts';
import { createPublisher } from '../../../src/nats/publisher.ts';
import { publishAll } from '../../../src/nats/publisher/all.ts';
import { decodeTask, encodeRecord, encodeTask } from '../../../src/wire/task-codec.ts';
import { quietLog } from '../../kit/nats-server.ts';

const TASKS = 'BARE_TASKS';
const LEDGER = 'BARE_LEDGER';

export async function open({ nats }: { nats: string }): Promise<{
  fill: (job: { count: number }) => Promise<void>;
  work: (job: { count: number }) => Promise<{ ms: number }>;
}> {
  const connection = await connectNats({
    access: { url: [nats] },
    name: 'bare',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  const { js, jsm } = connection;
  await jsm.streams.add({ name: TASKS, subjects: ['bare.task.*'], retention: RetentionPolicy.Workqueue });
  await jsm.streams.add({
    name: LEDGER,
    subjects: ['bare.ledger.*'],
    max_msgs_per_subject: 1,
    discard: DiscardPolicy.New,
    allow_direct: true,
  });
  await jsm.consumers.add(TASKS, {
    durable_name: 'bare',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 50_000,
  });
  const tasks = await createPublisher(connection, { stream: TASKS, durability: 'interval' });
  const ledger = await createPublisher(connection, { stream: LEDGER, durability: 'interval' });
  let filled = 0;

  return {
    async fill({ count }) {
      await publishAll(tasks, messages(filled, count), () => undefined);
      filled += count;
    },
    async work({ count }) {
      const consumer = await js.consumers.get(TASKS, 'bare');
      let firstMs = 0;
      let left = count;
      return new Promise((resolve, reject) => {
        const settle = async (message: JsMsg): Promise<void> => {
          const { spec, faults } = decodeTask(message.data);
          const result = { items: [], pages: 0, bytes: 0 };
          const at = Date.now();
          const payload = encodeRecord({
            state: 'done',
            spec,
            at,
            faults,
            worker: 'bare',
            startedAt: at,
            result,
          });
          const outcome = await ledger.publish({ subject: `bare.ledger.${spec.id}`, payload, expect: 0 });
          if (outcome.kind !== 'stored') throw new Error(outcome.reason);
          message.ack();
          left -= 1;
          if (left === 0) end();
        };
        const callback = (message: JsMsg): void => {
          if (firstMs === 0) firstMs = performance.now();
          settle(message).catch(reject);
        };
        const consuming = consumer.consume({ callback, max_messages: 1_000 });
        const end = (): void => {
          const ms = performance.now() - firstMs;
          void consuming.then((incoming) => incoming.stop());
          resolve({ ms });
        };
      });
    },
  };

  function* messages(
    from: number,
    count: number,
  ): Generator<{ subject: string; payload: Uint8Array; repeatable: true }> {
    for (let n = from; n < from + count; n += 1) {
      const spec = {
        ...{ id: `task${n}`, run: 'bare', scraper: 'noop', url: `https://shop.example/item/${n}` },
        ...{ priority: 5 as const, createdAt: 1_700_000_000_000, intake: 1 },
      };
      const payload = encodeTask({ spec, acceptSeq: n + 1, faults: [], triedProxies: [], deferrals: 0 });
      yield { subject: `bare.task.${n}`, payload, repeatable: true };
    }
  }
}
