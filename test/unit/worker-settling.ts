/** What stays in memory while an outcome is being stored, which takes longer than fetching the next pages. */
import t from 'tap';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSettler } from '../../src/actors/worker/settling.ts';
import { WORKER_DEFAULTS, type WorkerPorts } from '../../src/actors/worker/ports.ts';
import { POISON_DEFAULTS } from '../../src/policy/poison.ts';
import { SETTLE_DEFAULTS } from '../../src/policy/settle.ts';
import { makeDelivery } from '../kit/deliveries.ts';
import { quietLog } from '../kit/nats-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const limits = {
  worker: 'w',
  concurrency: 1,
  leaseMs: 60_000,
  prefetchMax: 10,
  settle: SETTLE_DEFAULTS,
  poison: POISON_DEFAULTS,
  ...WORKER_DEFAULTS,
};

function setUp(storeOutcome: WorkerPorts['storeOutcome']) {
  const acked: string[] = [];
  const settler = createSettler(
    {
      storeOutcome,
      storeNext: async () => ({ kind: 'stored' }),
      lastBeatAt: () => Infinity,
      announce: () => undefined,
      log: quietLog,
    },
    limits,
    {
      queues: () => [],
      close: () => Promise.resolve(),
      ack: ({ reply }) => void acked.push(reply),
      giveBack: () => undefined,
      extend: () => undefined,
    },
  );
  const settle = (item: object): Promise<void> =>
    settler.attempt({
      delivery: makeDelivery('a'),
      scraper: { name: 'test', run: async () => undefined },
      startedAt: 1,
      outcome: { kind: 'done', result: { items: [item], pages: 1, bytes: 1 } },
      followUps: [],
    });
  return { settle, acked };
}

t.test('the items, and the page that they are parts of, are not kept until they are stored', async (t) => {
  let stored = (): void => undefined;
  const { settle, acked } = setUp(
    () => new Promise((resolve) => (stored = () => resolve({ kind: 'stored' }))),
  );
  let settled: Promise<void> | undefined;
  const item = ((): WeakRef<object> => {
    const large = { text: 'x'.repeat(1_000) };
    settled = settle(large);
    return new WeakRef(large);
  })();
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  t.equal(item.deref(), undefined);
  t.same(acked, []);
  stored();
  await settled;
  t.same(acked, ['reply.a']);
});

t.test('an outcome that cannot even be tried to be stored is a rejection, not an exception', async (t) => {
  const { settle, acked } = setUp(() => {
    throw new Error('no way');
  });
  await t.rejects(settle({}), { message: 'no way' });
  t.same(acked, []);
});
