/** One contract for every service: it can be stopped at any moment of its life, as often as you like, and leaves nothing. */
import t from 'tap';
import { setImmediate as tick, setTimeout as delay } from 'node:timers/promises';
import { startActor } from '../../src/cluster/start-actor.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ROLES } from '../../src/domain/role.ts';
import type { SinkSpec } from '../../src/domain/sink.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { listBeats } from '../../src/nats/beats.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { createRandom } from '../kit/random.ts';
import { quietLog, startNatsServer, temporaryFolder } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';

const ROUNDS = 12;

const server = await startNatsServer(t);
const connection = await server.connect();
const settings = { 'nats.url': server.url, 'http.port': '0' } as const;
const { config } = loadConfig({ flags: settings, env: {}, cwd: '/' });
await applyTopology(connection, planCluster(config), { onDrift: 'update' });
const buckets = [openBucket(connection, 'cluster'), openBucket(connection, 'egress')];

const path = temporaryFolder(t);
const sink: SinkSpec = { name: 'stopped', type: 'ndjson', path, gzip: false, rotateBytes: 1_000_000 };

interface Connz {
  readonly num_connections: number;
}

async function countConnections(): Promise<number> {
  return ((await (await fetch(`${server.monitorUrl}/connz`)).json()) as Connz).num_connections;
}

for (const role of ROLES) {
  t.test(`${role}: stopped at random moments, again and again`, { timeout: 60_000 }, async (t) => {
    const random = createRandom(4711);
    for (let round = 0; round < ROUNDS; round += 1) {
      const stop = new AbortController();
      const starting = startActor(
        { ...config, actor: { ...config.actor, id: `${role}-x` } },
        { role, log: quietLog, stop: stop.signal, sink },
      );
      if (round % 3 === 2) stop.abort(); // while it still connects
      if (round % 5 === 4) setTimeout(() => stop.abort(), random.int(1, 60)); // or while it opens what it has
      const actor = await starting.catch((error: unknown) => {
        t.match(error, { code: 'CANCELLED' }, 'only a stop may end a start');
        return undefined;
      });
      if (!actor) continue;
      if (round % 2 === 0) await delay(random.int(1, 30));
      else await tick();
      if (round % 4 === 3) actor.abort();
      else actor.quiet();
      actor.quiet(); // a second word changes nothing
      await actor.done;
    }
    const clusterBeats = await listBeats(buckets[0] as (typeof buckets)[0], quietLog);
    t.equal(clusterBeats.find(({ id }) => id === `${role}-x`)?.status, 'stopped');
    for (const bucket of buckets) t.same(await bucket.list('lock.>'), [], 'no lock is left');
    t.equal(await countConnections(), 1, 'only the connection of the test is left');
  });
}

t.test('two of a kind: the second leads when the first stops, and neither leaves a lock', async (t) => {
  const start = (id: string) =>
    startActor({ ...config, actor: { ...config.actor, id } }, { role: 'coordinator', log: quietLog });
  const [first, second] = await Promise.all([start('one'), start('two')]);
  first.quiet();
  await first.done;
  second.quiet();
  await second.done;
  t.same(await buckets[0]?.list('lock.>'), []);
});

t.test('a worker refuses a lease that one late beat would end', async (t) => {
  const lane = { stream: 'TASKS', name: 'p3' };
  const { config: usual } = await connection.jsm.consumers.info(lane.stream, lane.name);
  const setLease = (ms: number): Promise<unknown> =>
    connection.jsm.consumers.update(lane.stream, lane.name, { ack_wait: ms * 1_000_000 });
  t.teardown(() =>
    connection.jsm.consumers.update(lane.stream, lane.name, { ack_wait: usual.ack_wait ?? 0 }),
  );
  await setLease(2 * config.heartbeat.interval - 1_000);
  const start = () =>
    startActor({ ...config, actor: { ...config.actor, id: 'hasty' } }, { role: 'worker', log: quietLog });
  await t.rejects(start(), {
    code: 'INVALID',
    message:
      'the lease of a task is 59000 ms on the server, but must be at least twice heartbeat.interval, which is 30000 ms',
    hint: /topology diff/,
  });
  await setLease(2 * config.heartbeat.interval);
  const fits = await start();
  fits.quiet();
  await t.resolves(fits.done);
});

t.test('news that nobody confirms does not hold up the end', async (t) => {
  const silence = (no_ack: boolean): Promise<unknown> => connection.jsm.streams.update('EVENTS', { no_ack });
  const before = (await connection.jsm.streams.info('EVENTS')).state.last_seq;
  await silence(true);
  t.teardown(() => silence(false));
  const actor = await startActor(
    { ...config, actor: { ...config.actor, id: 'talking' } },
    { role: 'coordinator', log: quietLog },
  );
  // Who leads says so.
  await untilSo(
    () => connection.jsm.streams.info('EVENTS'),
    ({ state }) => state.last_seq > before,
  );
  const began = performance.now();
  actor.quiet();
  await actor.done;
  t.ok(performance.now() - began < 8_000, `${Math.round(performance.now() - began)} ms`);
});
