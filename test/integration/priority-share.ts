/** Priorities in runs that a coordinator took in: which task of which run starts when, counted one by one. */
import t from 'tap';
import { createClient } from '../../src/client/client.ts';
import { NO_ROUTES } from '../../src/domain/routes.ts';
import type { Priority } from '../../src/domain/task.ts';
import { createOwnLanes } from '../../src/nats/own-lanes.ts';
import { deliverLate } from '../kit/late-deliveries.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';

const STARTS = 200;
const RUNS: readonly { readonly priority: Priority; readonly tasks: number }[] = [
  { priority: 9, tasks: STARTS + 20 },
  { priority: 5, tasks: 30 },
  { priority: 0, tasks: 30 },
];
const ALL = RUNS.reduce((sum, { tasks }) => sum + tasks, 0);

t.test('one start of twenty is for lower priorities, which share it in turn', async (t) => {
  const cluster = await startSmallCluster(t);
  const { connection, names, call } = cluster;
  await cluster.start('coordinator', 'c1');
  for (const { priority, tasks } of RUNS) {
    const run = `p${priority}`;
    await call('run.create', { scraper: 'gate', run, priority });
    const list = Array.from({ length: tasks }, (_, n) => ({ key: `${run}-${n}`, priority }));
    await connection.js.publish(names.submit('gate', run), JSON.stringify(list));
    await call('run.seal', { run, messages: 1 });
  }
  const queued = async (): Promise<number> => (await connection.jsm.streams.info('TASKS')).state.messages;
  await untilSo(queued, (messages) => messages === ALL);

  const late = deliverLate(connection);
  const order: Priority[] = [];
  const started = new Map<Priority, number>();
  const waits = ({ priority }: { priority: Priority }): boolean =>
    late.came(priority) > (started.get(priority) ?? 0);
  startWorker(t, {
    connection: late.connection,
    limits: { concurrency: 1, prefetchMax: 100 },
    scrapers: [
      {
        name: 'gate',
        // The first ends at once, by which the worker knows how much to hold; then all runs wait at each choice.
        async run({ task: { priority } }) {
          order.push(priority);
          started.set(priority, (started.get(priority) ?? 0) + 1);
          await late.until(() => order.length < 2 || order.length > STARTS + 1 || RUNS.every(waits));
        },
      },
    ],
  });
  const client = createClient(connection, { names, durability: 'interval' });
  for (const { priority, tasks } of RUNS)
    t.match(await client.waitFor(`p${priority}`), { state: 'done', counts: { done: tasks } });
  const seen = order.slice(2, STARTS + 2);
  const lower = seen.flatMap((priority, at) => (priority === 9 ? [] : [{ priority, at }]));
  t.equal(lower.length, STARTS / 20, 'a twentieth');
  t.ok(
    lower.every(({ at }, n) => n === 0 || at - (lower[n - 1]?.at ?? 0) === 20),
    'one of each twenty',
  );
  t.ok(
    lower.every(({ priority }, n) => n === 0 || priority !== lower[n - 1]?.priority),
    'the two lower ones in turn',
  );
});

t.test('the same where the tasks lie in different lanes', async (t) => {
  const world = await createTaskWorld(t, await startNatsServer(t));
  const { connection, names } = world;
  await createOwnLanes(connection, names).open(['rare']);
  const places = [
    { priority: 9, tasks: STARTS / 2 + 10, own: true },
    { priority: 9, tasks: STARTS / 2 + 10, own: false },
    { priority: 5, tasks: 30, own: false },
    { priority: 0, tasks: 30, own: true },
  ] as const;
  const settled = await world.follow('mixed');
  for (const { priority, tasks, own } of places)
    await world.put(
      Array.from({ length: tasks }, (_, n) => ({
        ...{ run: 'mixed', key: `${priority}-${own}-${n}`, scraper: own ? 'rare' : 'gate', priority, own },
      })),
    );

  const late = deliverLate(connection);
  const order: Priority[] = [];
  const started = new Map<Priority, number>();
  const waits = ({ priority }: { priority: Priority }): boolean =>
    late.came(priority) > (started.get(priority) ?? 0);
  const run = async ({ task: { priority } }: { task: { priority: Priority } }): Promise<void> => {
    order.push(priority);
    started.set(priority, (started.get(priority) ?? 0) + 1);
    await late.until(() => order.length < 2 || order.length > STARTS + 1 || places.every(waits));
  };
  startWorker(t, {
    connection: late.connection,
    limits: { concurrency: 1, prefetchMax: 100 },
    scrapers: ['gate', 'rare'].map((name) => ({ name, run })),
    surroundings: {
      others: () => [['rare']],
      routes: () => ({ ...NO_ROUTES, shared: ['gate'], own: ['rare'], open: ['rare'] }),
      onChange: () => () => undefined,
    },
  });
  await settled.until(places.reduce((sum, { tasks }) => sum + tasks, 0));
  const lower = order.slice(2, STARTS + 2).filter((priority) => priority !== 9);
  t.equal(lower.length, STARTS / 20, 'a twentieth');
  t.ok(
    lower.every((priority, n) => n === 0 || priority !== lower[n - 1]),
    'the two lower ones in turn',
  );
});
