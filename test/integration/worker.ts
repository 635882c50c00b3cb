/** A worker on a healthy server: every task gets one outcome, in the order of priorities, with its history. */
import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import type { Priority } from '../../src/domain/task.ts';
import { deliverLate } from '../kit/late-deliveries.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld, type NewTask } from '../kit/task-world.ts';

const server = await startNatsServer(t);
const world = await createTaskWorld(t, server);
const { connection } = world;

const list = (count: number, task: Omit<NewTask, 'key'>): NewTask[] =>
  Array.from({ length: count }, (_, i) => ({ ...task, key: `k${i}` }));

/** Resolves when TASKS is empty: the acknowledgements follow the outcomes. */
async function untilNothingLeft(): Promise<void> {
  const enough = AbortSignal.timeout(10_000);
  while ((await world.left()) > 0) enough.throwIfAborted();
}

t.test('pulls, runs, settles, acknowledges', async (t) => {
  const settled = await world.follow('plain');
  startWorker(t, { connection, limits: { worker: 'one' } });
  await world.put([
    { run: 'plain', key: 'a', input: { items: [1, { b: 2 }] } },
    ...list(99, { run: 'plain' }),
  ]);
  const outcomes = await settled.until(100);
  t.match(outcomes.get('a'), {
    state: 'done',
    worker: 'one',
    faults: [],
    result: { items: [1, { b: 2 }], pages: 0, bytes: 0 },
  });
  t.ok([...outcomes.values()].every(({ state }) => state === 'done'));
  await untilNothingLeft();
  t.match(await world.reader.counts('plain'), { accepted: 100, done: 100, dead: 0, items: 2 });
});

t.test('five workers share a thousand tasks, and each task is run once', async (t) => {
  const settled = await world.follow('shared');
  const ran: string[] = [];
  const tasks = list(1_000, { run: 'shared', scraper: 'shared' });
  const starts = await Promise.all([1, 2, 3, 4, 5].map((i) => server.connect(`worker ${i}`)));
  starts.map((connection, i) =>
    startWorker(t, {
      connection,
      limits: { worker: `s${i}` },
      scrapers: [
        {
          name: 'shared',
          async run({ task }) {
            ran.push(task.id);
            await new Promise((resolve) => setTimeout(resolve, 2));
          },
        },
      ],
    }),
  );
  await world.put(tasks);
  const outcomes = await settled.until(1_000);
  const workers = new Set(
    [...outcomes.values()].map((outcome) => (outcome.state === 'done' ? outcome.worker : '')),
  );
  t.equal(workers.size, 5);
  t.equal(ran.length, 1_000);
  t.equal(new Set(ran).size, 1_000);
  await untilNothingLeft();
});

t.test('higher priorities first, and a share for the lower ones', async (t) => {
  const picks = 200;
  const lanes = [0, 9] as const;
  const order: Priority[] = [];
  const settled = await world.follow('order');
  const tasks = lanes.flatMap((priority) =>
    list(priority === 0 ? 50 : 250, { run: 'order', scraper: 'order', priority }).map((task) => ({
      ...task,
      key: `${priority}${task.key}`,
    })),
  );
  await world.put(tasks);
  const late = deliverLate(connection);
  const waits = (lane: Priority): boolean =>
    late.came(lane) > order.filter((priority) => priority === lane).length;
  startWorker(t, {
    connection: late.connection,
    limits: { concurrency: 1, prefetchMax: 50 },
    scrapers: [
      {
        name: 'order',
        // Ends when a task of each lane waits for its start here, so that every pick has the choice. But the first ends
        // at once: from its time alone the worker tells how much to hold, and it must not wait for what it waits for.
        async run({ task }) {
          order.push(task.priority);
          await late.until(() => order.length < 2 || order.length > picks + 1 || lanes.every(waits));
        },
      },
    ],
  });
  await settled.until(300);
  const low = order.slice(2, picks + 2).flatMap((priority, at) => (priority === 0 ? [at] : []));
  t.equal(low.length, picks / 20, 'one start of twenty');
  t.ok(
    low.every((at, n) => n === 0 || at - (low[n - 1] ?? 0) === 20),
    'evenly',
  );
  await untilNothingLeft();
});

t.test('a failing task is tried again after a back-off, then buried with its history', async (t) => {
  const settled = await world.follow('faults');
  const tries = new Map<string, number[]>();
  startWorker(t, {
    connection,
    limits: { worker: 'f' },
    scrapers: [
      {
        name: 'faults',
        retries: 2,
        async run({ task, attempt }) {
          tries.set(task.key ?? '', [...(tries.get(task.key ?? '') ?? []), attempt]);
          if (task.key === 'network') throw new Failure('NETWORK', 'x'.repeat(700));
          if (task.key === 'strange') throw new TypeError('strange');
          if (task.key === 'invalid') throw new Failure('INVALID', 'no such page');
          if (attempt < 3) throw new Failure('TIMEOUT', 'slow');
        },
      },
    ],
  });
  const keys = ['network', 'strange', 'invalid', 'third'];
  await world.put(keys.map((key) => ({ run: 'faults', scraper: 'faults', key })));
  const outcomes = await settled.until(4);
  t.same(tries.get('network'), [1, 2, 3]);
  t.same(tries.get('invalid'), [1]);
  const network = outcomes.get('network');
  t.match(network, { state: 'dead', error: { code: 'NETWORK' } });
  t.equal(network?.faults.length, 3);
  t.ok(
    network?.faults.every(
      ({ code, worker, message }) => code === 'NETWORK' && worker === 'f' && message.length === 500,
    ),
  );
  t.match(outcomes.get('strange'), { state: 'dead', error: { code: 'INTERNAL', message: 'strange' } });
  t.match(outcomes.get('invalid'), {
    state: 'dead',
    error: { code: 'INVALID' },
    faults: [{ code: 'INVALID' }],
  });
  t.match(outcomes.get('third'), { state: 'done', faults: [{ code: 'TIMEOUT' }, { code: 'TIMEOUT' }] });
  await untilNothingLeft();
});

t.test('nobody knows the scraper; the result is larger than a message, or no data', async (t) => {
  const settled = await world.follow('odd');
  startWorker(t, {
    connection,
    scrapers: [
      { name: 'large', run: async (context) => context.emit('x'.repeat(2_000_000)) },
      {
        name: 'circle',
        async run(context) {
          const circle: unknown[] = [];
          circle.push(circle);
          context.emit(circle);
        },
      },
    ],
  });
  await world.put(
    ['missing', 'large', 'circle', 'noop'].map((name) => ({ run: 'odd', scraper: name, key: name })),
  );
  const outcomes = await settled.until(4);
  t.match(outcomes.get('missing'), { state: 'dead', error: { code: 'NO_HANDLER', message: /missing/ } });
  t.match(outcomes.get('large'), { state: 'done', result: { items: [], blob: { items: 1, chunks: 4 } } });
  t.equal(outcomes.get('noop')?.state, 'done');
  t.match(outcomes.get('circle'), { state: 'dead', error: { code: 'INVALID', message: /cannot be stored/ } });
  await untilNothingLeft();
});
