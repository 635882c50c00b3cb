/** Workers that have different scrapers: each meets what it can run, and nothing is lost while they come and go. */
import t from 'tap';
import { keepLanes } from '../../src/actors/coordinator/lane-keeper.ts';
import type { Beat } from '../../src/domain/beat.ts';
import { compareTopology } from '../../src/nats/apply-topology.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { listLanes, listOwnLanes } from '../../src/nats/lanes.ts';
import { locateTask } from '../../src/nats/locate-task.ts';
import { createOwnLanes } from '../../src/nats/own-lanes.ts';
import { createPauses, watchPauses } from '../../src/nats/pauses.ts';
import { readQueue } from '../../src/nats/queue-facts.ts';
import { loadRoutes, storeRoutes } from '../../src/nats/routes.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { quietLog } from '../kit/nats-server.ts';
import { startSmallCluster, untilSo, type SmallCluster } from '../kit/small-cluster.ts';

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
  await untilOwn(cluster, ['blue']);
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
    EACH,
    'what is tried again goes to the same lanes',
  );
});

t.test('queue, cancel and pause know the own lanes', async (t) => {
  const cluster = await startSmallCluster(t, {}, SCRAPERS);
  const { connection, names, bucket, call } = cluster;
  await cluster.start('coordinator', 'c1');
  await cluster.start('worker', 'w-red', 'red');
  await cluster.start('worker', 'w-blue', 'blue');
  await untilOwn(cluster, ['blue']);
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
    { names, bucket, pauses: await watchPauses(bucket, over.signal) },
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
  await untilOwn(cluster, ['blue']);
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

t.test(
  'when the last one that has it leaves, its tasks are buried, as of a scraper that nobody has',
  async (t) => {
    const cluster = await startSmallCluster(t, {}, SCRAPERS);
    const reader = createLedgerReader(cluster.connection, cluster.names);
    await cluster.start('coordinator', 'c1');
    await cluster.start('worker', 'red-1', 'red');
    const blue = await cluster.start('worker', 'blue-1', 'blue');
    await untilOwn(cluster, ['blue']);
    await storeFar(cluster);
    blue.quiet();
    await blue.done;
    // As one that was told where it goes while there was somebody: it is fired into the lanes of a scraper that is gone.
    await submit(cluster, 'unknown', 'nobody');
    const counts = await untilSo(
      () => reader.counts('nobody'),
      ({ dead }) => dead === EACH,
    );
    t.match(counts, { dead: EACH });
    await untilSo(
      () => lastMessages(cluster),
      (messages) => messages === 0,
    );
  },
);

t.test('lanes are made when needed, removed when empty, and made again for what comes late', async (t) => {
  const cluster = await startSmallCluster(t, {}, SCRAPERS);
  const { connection, names, bucket } = cluster;
  const over = new AbortController();
  let tell: (change: { key: string; beat: Beat | undefined }) => void = () => undefined;
  const beat = (scrapers: string[]): Beat =>
    ({ role: 'worker', status: 'running', scrapers }) as unknown as Beat;
  const kept = keepLanes(
    {
      async watchBeats(listener) {
        tell = listener;
        tell({ key: 'w1', beat: beat(['a', 'b']) });
        tell({ key: 'w2', beat: beat(['b']) });
      },
      load: () => loadRoutes(bucket),
      store: (record) => storeRoutes(bucket, record),
      lanes: createOwnLanes(connection, names),
      log: quietLog,
    },
    over.signal,
    { everyMs: 20, keepMs: 100 },
  );
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
  tell({ key: 'w2', beat: undefined });
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

async function untilOwn({ bucket }: SmallCluster, own: readonly string[]): Promise<void> {
  await untilSo(
    async () => (await loadRoutes(bucket)).routes.own,
    (found) => found.join() === own.join(),
  );
}

/** A task of the lane of somebody who leaves. */
async function storeFar({ connection, names }: SmallCluster): Promise<void> {
  await connection.js.publish(names.only({ priority: 4, scraper: 'blue', run: 'far', id: 'x' }), 'no task');
}

async function lastSeq({ connection }: SmallCluster): Promise<number> {
  return (await connection.jsm.streams.info('TASKS')).state.last_seq;
}

async function lastMessages({ connection }: SmallCluster): Promise<number> {
  return (await connection.jsm.streams.info('TASKS')).state.messages;
}
