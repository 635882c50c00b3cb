/** Two namespaces on one NATS, with the same actors under the same ids: neither sees the other. */
import t from 'tap';
import { startCluster } from '../../src/cluster/start-cluster.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Beat } from '../../src/domain/beat.ts';
import { STANDING_ROLES } from '../../src/domain/role.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { listBeats } from '../../src/nats/beats.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { askActor } from '../../src/nats/mailbox.ts';
import { createServices, type Services } from '../../src/nats/services-client.ts';
import { createNames, type Names } from '../../src/wire/names.ts';
import { quietLog, startNatsServer, temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';

const server = await startNatsServer(t);
const connection = await server.connect();

interface Side {
  readonly names: Names;
  readonly services: Services;
  beats(): Promise<Beat[]>;
  ask(verb: string): Promise<unknown>;
}

async function startSide(t: Teardown, namespace: string): Promise<Side> {
  const names = createNames(namespace);
  const { config } = loadConfig({
    flags: { namespace, 'nats.url': server.url, 'actor.id': 'same', 'http.port': '0' },
    env: {},
    cwd: temporaryFolder(t),
  });
  await applyTopology(connection, planCluster(config), { onDrift: 'update' });
  const cluster = await startCluster(config, { role: 'all', log: quietLog });
  t.teardown(() => cluster.abort());
  const services = createServices(connection, names);
  await untilSo(
    () => services.call('run.list', {}).catch(() => undefined),
    (answer) => answer !== undefined,
  );
  return {
    names,
    services,
    beats: () => listBeats(openBucket(connection, names.bucket('cluster')), quietLog),
    ask: (verb) => askActor(connection, { names, role: 'worker', id: 'same', verb, timeoutMs: 5_000 }),
  };
}

t.test('two namespaces on one NATS do not see each other', async (t) => {
  const [red, blue] = await Promise.all([startSide(t, 'red'), startSide(t, 'blue')]);
  for (const side of [red, blue])
    t.same((await side.beats()).map(({ role }) => role).sort(), [...STANDING_ROLES].sort());

  await red.ask('pause');
  t.match(await red.ask('status'), { paused: true });
  t.match(await blue.ask('status'), { paused: false });
  await red.ask('resume');

  const stats = (side: Side): Promise<unknown> => side.services.call('stats', {});
  const run = async (side: Side, item: string): Promise<void> => {
    await side.services.call('submit', { scraper: 'noop', run: 'r', key: 'k', input: { items: [item] } });
    await untilSo(
      () => stats(side) as Promise<{ done: number }>,
      ({ done }) => done === 1,
    );
  };
  await run(red, 'red');
  t.match(await stats(blue), { total: 0, workers: { active: 1, total: 1 } });
  t.match(await blue.services.call('run.list', {}), { runs: [] });
  await run(blue, 'blue');
  t.match(await stats(red), { total: 1, done: 1, items: 1, workers: { active: 1, total: 1 } });
  for (const side of [red, blue]) {
    const { state } = await connection.jsm.streams.info(side.names.stream('LEDGER'), {
      subjects_filter: side.names.ledger('r', '*'),
    });
    t.equal(Object.keys(state.subjects ?? {}).length, 1, 'one outcome each');
  }
});
