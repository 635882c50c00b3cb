/** Workers that have different scrapers: each meets what it can run, and nothing is lost while they come and go. */
import t from 'tap';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keepLanes } from '../../src/actors/coordinator/lane-keeper.ts';
import type { Beat } from '../../src/domain/beat.ts';
import { compareTopology } from '../../src/nats/apply-topology.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { listLanes, listOwnLanes } from '../../src/nats/lanes.ts';
import { locateTask } from '../../src/nats/locate-task.ts';
import { createOwnLanes } from '../../src/nats/own-lanes.ts';
import { createPauses, watchPauses } from '../../src/nats/pauses.ts';
import { readQueue } from '../../src/nats/queue-facts.ts';
import { loadRoutes, storeRoutes, watchRoutes } from '../../src/nats/routes.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { quietLog, startNatsServer } from '../kit/nats-server.ts';
import { startSmallCluster, untilSo, type SmallCluster } from '../kit/small-cluster.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';

const source = (name: string): string => `
  const runs = (globalThis.ownLaneRuns ??= new Map());
  export const scraper = {
    name: '${name}',
    async run({ task, input }) {
      runs.set(task.id, (runs.get(task.id) ?? 0) + 1);
      if (input.once && runs.get(task.id) === 1)
        throw Object.assign(new Error('later'), { name: 'Failure', code: 'THROTTLED', retryAtMs: Date.now() + 200 });
      await new Promise((resolve) => setTimeout(resolve, 2));
    },
  };`;
const SCRAPERS = { red: source('red'), blue: source('blue') };
const EACH = 300;

t.test('each worker sees only tasks of its own scraper', async (t) => {
  const cluster = await startSmallCluster(t, {}, SCRAPERS);
  const { connection, names } = cluster;
  await cluster.start('coordinator', 'c1');
  await cluster.start('worker', 'w-red', 'red');
  await cluster.start('worker', 'w-blue', 'blue');
  await untilOwn(cluster, ['blue', 'red']);
  const before = await lastSeq(cluster);
  await Promise.all([submit(cluster, 'red', 'r1'), submit(cluster, 'blue', 'b1')]);
  await untilDone(cluster, { r1: EACH, b1: EACH });

  t.equal(
    (await lastSeq(cluster)) - before,
    2 * EACH,
    'nothing was put off: each task was put into the queue once',
  );
  const lanes = await listLanes(connection, names);
  t.equal(
    lanes.reduce((sum, { info }) => sum + info.delivered.consumer_seq, 0),
    2 * EACH,
    'each was delivered once',
  );
  t.equal(
    lanes
      .filter(({ scraper }) => scraper === 'blue')
      .reduce((sum, { info }) => sum + info.delivered.consumer_seq, 0),
    EACH,
  );
  t.equal((await readQueue(connection, names)).stored, 0);
  const states = await compareTopology(
    connection,
    planCluster({ namespace: 'trawl', nats: { replicas: 1 } as never }),
  );
  t.same(
    states.filter(({ state }) => state !== 'same'),
    [],
    'lanes that come and go are no drift',
  );

  await submit(cluster, 'blue', 'b2', { once: true });
  await untilDone(cluster, { b2: EACH });
  const known = (await listLanes(connection, names)).filter(({ scraper }) => scraper === undefined);
  t.equal(
    known.reduce((sum, { info }) => sum + info.delivered.consumer_seq, 0),
    0,
    'what is tried again goes to the same lanes',
  );
});

t.test('queue, cancel and pause know the own lanes', async (t) => {
  const cluster = await startSmallCluster(t, {}, SCRAPERS);
  const { connection, names, bucket, call } = cluster;
  await cluster.start('coordinator', 'c1');
  await cluster.start('worker', 'w-red', 'red');
  await cluster.start('worker', 'w-blue', 'blue');
  await untilOwn(cluster, ['blue', 'red']);
  const pauses = createPauses(bucket);
  await pauses.pause('scraper', 'blue');
  await submit(cluster, 'blue', 'held');
  await untilSo(
    () => connection.jsm.streams.info('TASKS', { subjects_filter: 'trawl.parked.held.*' }),
    ({ state }) => Object.keys(state.subjects ?? {}).length === EACH,
  );
  await pauses.resume('scraper', 'blue');
  await untilDone(cluster, { held: EACH });

  await pauses.pause('cluster', 'all');
  await submit(cluster, 'blue', 'unwanted');
  await untilSo(
    () => readQueue(connection, names),
    // What was given back while nobody asks counts as lent.
    ({ ready, running }) => ready + running === EACH,
  );
  const place = { priority: 3, scraper: 'blue', run: 'unwanted' } as const;
  const { state } = await connection.jsm.streams.info('TASKS', {
    subjects_filter: names.only({ ...place, id: '*' }),
  });
  const id =
    Object.keys(state.subjects ?? {})[0]
      ?.split('.')
      .at(-1) ?? '';
  const over = new AbortController();
  const found = await locateTask(
    connection,
    { names, bucket, pauses: await watchPauses(bucket, over.signal), log: quietLog },
    { ...place, id, createdAt: 0 },
  );
  over.abort();
  t.match(found, { lane: { priority: 3 }, pausedBy: 'the cluster is paused' });
  await call('run.cancel', { run: 'unwanted' });
  await untilSo(
    () => readQueue(connection, names),
    ({ stored }) => stored === 0,
  );
  const counts = await untilSo(
    () => createLedgerReader(connection, names).counts('unwanted'),
    ({ cancelled }) => cancelled === EACH,
  );
  t.match(counts, { cancelled: EACH, dead: 0 });
});

t.test('workers come and go under load', { timeout: 90_000 }, async (t) => {
  const cluster = await startSmallCluster(t, {}, SCRAPERS);
  const { connection, names } = cluster;
  const first = await cluster.start('coordinator', 'c1');
  await cluster.start('coordinator', 'c2');
  await cluster.start('worker', 'red-1', 'red');
  const blue = await cluster.start('worker', 'blue-1', 'blue');
  const runs: Record<string, number> = {};
  let n = 0;
  const load = async (): Promise<void> => {
    for (const scraper of ['red', 'blue']) {
      const run = `${scraper}-${(n += 1)}`;
      runs[run] = EACH;
      await submit(cluster, scraper, run);
    }
  };
  await untilOwn(cluster, ['blue', 'red']);
  await load();
  const all = await cluster.start('worker', 'all-1');
  await load();
  blue.quiet();
  await load();
  // Another one keeps the lanes from now on.
  first.abort();
  await cluster.start('worker', 'blue-2', 'blue');
  await load();
  await cluster.start('worker', 'all-2');
  all.quiet();
  await load();
  await untilDone(cluster, runs);
  await untilSo(
    () => lastMessages(cluster),
    (messages) => messages === 0,
  );
  const reader = createLedgerReader(connection, names);
  const counts = await Promise.all(Object.keys(runs).map((run) => reader.counts(run)));
  t.ok(
    counts.every(({ accepted, done, dead }) => accepted === EACH && done === EACH && dead === 0),
    'all are done',
  );
});

t.test('who comes later helps with what waits already', async (t) => {
  const cluster = await startSmallCluster(t, { 'worker.concurrency': '2' }, SCRAPERS);
  const { call } = cluster;
  await cluster.start('coordinator', 'c1');
  await cluster.start('worker', 'all-1');
  await cluster.submitAll(
    'stuck',
    Array.from({ length: 4 }, (_, each) => ({ key: `h${each}`, priority: 9, input: { hold: true } })),
  );
  await untilSo(
    () => readQueue(cluster.connection, cluster.names),
    ({ running }) => running >= 2,
  );
  await submit(cluster, 'blue', 'waiting');
  await cluster.start('worker', 'blue-1', 'blue');
  const reader = createLedgerReader(cluster.connection, cluster.names);
  const { done } = await untilSo(
    () => reader.counts('waiting'),
    (counts) => counts.done > EACH / 2,
  );
  t.ok(done, 'although the first worker was busy with something else');
  // A few may be in its hand.
  await call('run.cancel', { run: 'stuck' });
  await untilDone(cluster, { waiting: EACH });
});

t.test('while the only worker that has it is replaced, its tasks wait for the next one', async (t) => {
  const { blue, ...others } = SCRAPERS;
  const cluster = await startSmallCluster(t, {}, others);
  const { connection, names, bucket, scrapers } = cluster;
  const reader = createLedgerReader(connection, names);
  await cluster.start('coordinator', 'c1');
  await cluster.start('worker', 'old');
  await untilSo(
    async () => (await loadRoutes(bucket)).routes.shared,
    (shared) => shared.includes('red'),
  );
  writeFileSync(join(scrapers, 'blue.mjs'), blue);
  const last = await cluster.start('worker', 'new-1');
  await untilOwn(cluster, ['blue']);
  last.quiet();
  await last.done;
  await submit(cluster, 'blue', 'b1');
  await submit(cluster, 'unknown', 'nobody');
  await untilSo(
    () => reader.counts('nobody'),
    ({ dead }) => dead === EACH,
  );
  const counts = await untilSo(
    () => reader.counts('b1'),
    ({ accepted }) => accepted === EACH,
  );
  t.match(counts, { done: 0, dead: 0 }, 'only a scraper that nobody had is not waited for');
  const lanes = await listLanes(connection, names);
  t.equal(
    lanes
      .filter(({ scraper }) => scraper === 'blue')
      .reduce((sum, { info }) => sum + info.delivered.consumer_seq, 0),
    0,
    'nobody has touched them',
  );
  await cluster.start('worker', 'new-2');
  await untilDone(cluster, { b1: EACH });
});

t.test('a worker of one scraper alone leaves the tasks of others to others', async (t) => {
  const cluster = await startSmallCluster(t, {}, SCRAPERS);
  const { call } = cluster;
  await cluster.start('coordinator', 'c1');
  await submit(cluster, 'red', 'early');
  const { tasks } = await call<{ tasks: { id: string }[] }>('submit', {
    scraper: 'blue',
    run: 'b1',
    key: 'x',
  });
  await cluster.start('worker', 'w-red', 'red');
  await submit(cluster, 'red', 'late');
  await untilDone(cluster, { early: EACH, late: EACH });
  const told = await untilSo(
    () => call<{ where: string; explanation: string[] }>('why', { id: tasks[0]?.id }),
    ({ where }) => where === 'queued',
  );
  t.match(told.explanation.join(' '), /waits for a worker.*No running worker has its scraper, blue\./);
  await cluster.start('worker', 'all');
  await untilDone(cluster, { b1: 1 });
});

t.test('what nobody came back for is buried, and that is said', async (t) => {
  const world = await createTaskWorld(t, await startNatsServer(t));
  const { connection, bucket } = world;
  const listeners = new Set<() => void>();
  const heard = (): void => listeners.forEach((listener) => listener());
  const over = new AbortController();
  t.teardown(() => over.abort());
  const keeper = await startKeeper(world, over.signal, 200);
  keeper.tell('w1', ['gate']);
  keeper.tell('w2', ['gate', 'rare']);
  await untilOwn(world, ['rare']);
  let others = [['gate', 'rare']];
  const routes = await watchRoutes(bucket, over.signal, heard);
  startWorker(t, {
    connection,
    scrapers: [{ name: 'gate', run: () => Promise.resolve() }],
    surroundings: {
      others: () => others,
      routes,
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
  });
  const settled = await world.follow('r');
  await world.put([{ run: 'r', key: 'a', scraper: 'rare', own: true }]);
  const leftAt = Date.now();
  others = [];
  keeper.tell('w2', undefined);
  heard();
  const outcome = (await settled.until(1)).get('a');
  t.match(outcome, {
    state: 'dead',
    error: { code: 'NO_HANDLER', message: /no running worker has a scraper "rare".*last minute/ },
  });
  t.ok((outcome?.at ?? 0) - leftAt >= 200, 'not at once');
  t.same((await loadRoutes(bucket)).routes.own, []);
  over.abort();
  await keeper.kept;
});

t.test(
  'one that still loads its scrapers may have what is awaited, and is not waited for for ever',
  async (t) => {
    const world = await createTaskWorld(t, await startNatsServer(t));
    const over = new AbortController();
    t.teardown(() => over.abort());
    const keepMs = 400;
    const keeper = await startKeeper(world, over.signal, keepMs);
    keeper.tell('w1', ['gate']);
    keeper.tell('w2', ['gate', 'rare']);
    await untilOwn(world, ['rare']);
    keeper.tell('w2', undefined);
    await delay(keepMs / 2);
    const cameAt = performance.now();
    keeper.tell('w3', 'loading');
    await untilOwn(world, []);
    t.ok(performance.now() - cameAt >= keepMs);
    over.abort();
    await keeper.kept;
  },
);

t.test('lanes are made when needed, removed when empty, and made again for what comes late', async (t) => {
  const cluster = await startSmallCluster(t, {}, SCRAPERS);
  const { connection, names, bucket } = cluster;
  const over = new AbortController();
  const { tell, kept } = await startKeeper(cluster, over.signal, 100);
  tell('w1', ['a', 'b']);
  tell('w2', ['b']);
  const lanes = (count: number): Promise<unknown> =>
    untilSo(
      () => listOwnLanes(connection, names),
      (found) => found.length === count,
    );
  await lanes(10);
  const [own] = (await listLanes(connection, names)).filter(({ scraper }) => scraper !== undefined);
  const shared = await connection.jsm.consumers.info('TASKS', 'p0');
  t.equal(own?.info.config.ack_wait, shared.config.ack_wait, 'with the same leases');
  t.equal(own?.info.config.max_ack_pending, shared.config.max_ack_pending);
  await connection.jsm.consumers.update('TASKS', 'p0', { ack_wait: 77_000_000_000 });
  await untilSo(
    () => connection.jsm.consumers.info('TASKS', own?.name ?? ''),
    ({ config }) => config.ack_wait === 77_000_000_000,
  );
  tell('w2', undefined);
  await lanes(0);
  t.same((await loadRoutes(bucket)).routes.open, []);
  const scraper = own?.scraper ?? '';
  await connection.js.publish(names.only({ priority: 3, scraper, run: 'r', id: 'x' }), 'late');
  await lanes(10);
  t.same((await loadRoutes(bucket)).routes.open, [scraper], 'and workers are told');
  await connection.jsm.streams.purge('TASKS');
  await lanes(0);
  over.abort();
  await kept;
});

async function submit(
  cluster: SmallCluster,
  scraper: string,
  run: string,
  input: object = {},
): Promise<void> {
  const { call, connection, names } = cluster;
  await call('run.create', { scraper, run });
  const tasks = Array.from({ length: EACH }, (_, n) => ({ key: `${run}-${n}`, priority: n % 10, input }));
  await connection.js.publish(names.submit(scraper, run), JSON.stringify(tasks));
  await call('run.seal', { run, messages: 1 });
}

async function untilDone(
  { connection, names }: SmallCluster,
  runs: Readonly<Record<string, number>>,
): Promise<void> {
  const reader = createLedgerReader(connection, names);
  for (const [run, tasks] of Object.entries(runs))
    await untilSo(
      () => reader.counts(run),
      ({ done }) => done === tasks,
      60_000,
    );
}

async function untilOwn({ bucket }: Pick<SmallCluster, 'bucket'>, own: readonly string[]): Promise<void> {
  await untilSo(
    async () => (await loadRoutes(bucket)).routes.own,
    (found) => found.join() === own.join(),
  );
}

/** Keeps the lanes by what it is told of workers. */
async function startKeeper(
  { connection, names, bucket }: Pick<SmallCluster, 'connection' | 'names' | 'bucket'>,
  over: AbortSignal,
  keepMs: number,
): Promise<{
  tell: (key: string, scrapers: readonly string[] | 'loading' | undefined) => void;
  kept: Promise<void>;
}> {
  let listen: (change: { key: string; beat: Beat | undefined }) => void = () => undefined;
  const watched = new Promise<void>((resolve) => setImmediate(resolve));
  const kept = keepLanes(
    {
      watchBeats(listener) {
        listen = listener;
        return watched;
      },
      load: () => loadRoutes(bucket),
      store: (record) => storeRoutes(bucket, record),
      lanes: createOwnLanes(connection, names),
      log: quietLog,
    },
    over,
    { everyMs: 20, keepMs },
  );
  await watched;
  return {
    kept,
    tell(key, scrapers) {
      const life = scrapers === 'loading' ? { status: 'initializing' } : { status: 'running', scrapers };
      listen({ key, beat: scrapers && ({ role: 'worker', ...life } as unknown as Beat) });
    },
  };
}

async function lastSeq({ connection }: SmallCluster): Promise<number> {
  return (await connection.jsm.streams.info('TASKS')).state.last_seq;
}

async function lastMessages({ connection }: SmallCluster): Promise<number> {
  return (await connection.jsm.streams.info('TASKS')).state.messages;
}
