/** The life of a local cluster: up, restarts, down, several at once. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Secret } from '../../src/domain/secret.ts';
import { readLocalAccess } from '../../src/local/access.ts';
import { bringDown } from '../../src/local/down.ts';
import { allPorts } from '../../src/local/layout.ts';
import { findBusyPorts } from '../../src/local/ports.ts';
import { readLocalStatus } from '../../src/local/status.ts';
import { readClusterState } from '../../src/local/state.ts';
import { bringUp } from '../../src/local/up.ts';
import { connectNats } from '../../src/nats/connect.ts';
import {
  aliveIn,
  childOf,
  kill,
  planTestCluster,
  processOf,
  threeWorkers,
  untilState,
} from '../kit/local-cluster.ts';
import { quietLog } from '../kit/nats-server.ts';

const SECOND_UP_MAX_MS = 5_000;

t.test('up, state, second up, down; the data stays', async (t) => {
  const { options, report } = await planTestCluster(t, { actors: threeWorkers });
  const { home } = options;
  const first = await bringUp(options, report);
  t.equal(first.outcome, 'started');
  t.equal(first.cluster.phase, 'up');
  t.strictSame(
    first.cluster.children.map(({ name, state }) => `${name} ${state}`),
    ['nats-1', ...Object.keys(threeWorkers)].map((name) => `${name} up`),
  );
  t.equal(aliveIn(first.cluster).length, 9, 'seven actors, a server, a supervisor');
  t.strictSame(readClusterState(join(home, 'cluster.json')), first.cluster, 'the file says the same');

  const again = await bringUp({ ...options, settings: { 'local.nodes': '3' } }, report);
  t.match(again, {
    outcome: 'already-up',
    cluster: { supervisor: first.cluster.supervisor },
    differences: [{ name: 'local.nodes', running: '1', requested: '3' }],
  });

  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  t.strictSame(aliveIn(first.cluster), []);
  t.strictSame(await findBusyPorts(allPorts(first.cluster.ports)), []);
  t.match(await readLocalStatus(home), { condition: 'stopped', cluster: { phase: 'stopped' } });
  t.strictSame(
    await bringDown(options, report),
    { outcome: 'not-running' },
    'a second down has nothing to do',
  );

  const began = performance.now();
  const second = await bringUp(options, report);
  const tookMs = performance.now() - began;
  t.comment(`second up: ${Math.round(tookMs)} ms`);
  t.ok(tookMs < SECOND_UP_MAX_MS, `ready after ${Math.round(tookMs)} ms`);
  const access = readLocalAccess(home);
  const password = new Secret(readFileSync(access?.passwordFile ?? '', 'utf8').trim());
  const connection = await connectNats({
    access: { url: access?.url ?? [], user: access?.user, password },
    name: 'test',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.equal(
    (await connection.jsm.streams.info('PROBE')).config.name,
    'PROBE',
    'the stream of the first start is still there',
  );
  await connection.close();

  const anonymous = connectNats({
    access: { url: second.cluster.urls },
    name: 'stranger',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  await t.rejects(anonymous, { code: 'REJECTED' }, 'nobody gets in without the password');
  for (const file of [
    'cluster.json',
    'nats-1.conf',
    'secrets/app.password',
    'secrets/sys.password',
    'control.sock',
  ]) {
    t.equal(statSync(join(home, file)).mode & 0o077, 0, `${file} is private`);
  }
  const context = join(options.configHome, 'nats/context/trawl.json');
  t.match(JSON.parse(readFileSync(context, 'utf8')), { url: second.cluster.urls[0], user: 'trawl' });
  t.equal(statSync(context).mode & 0o777, 0o600);
});

t.test('a worker that is killed comes back alone', async (t) => {
  const { options, report } = await planTestCluster(t, {
    actors: { 'worker-1': 'serve', 'worker-2': 'serve' },
  });
  const { cluster } = await bringUp(options, report);
  const before = childOf(cluster, 'worker-1');
  await kill(processOf(cluster, 'worker-1'));
  const after = await untilState(
    options.home,
    (state) => childOf(state, 'worker-1').restarts === 1 && childOf(state, 'worker-1').state === 'up',
  );
  t.not(childOf(after, 'worker-1').process?.pid, before.process?.pid);
  t.match(childOf(after, 'worker-1').lastExit, { signal: 'SIGKILL' });
  t.strictSame(childOf(after, 'worker-2'), childOf(cluster, 'worker-2'), 'the others are untouched');
  t.strictSame(childOf(after, 'nats-1'), childOf(cluster, 'nats-1'));

  await kill(processOf(after, 'nats-1'));
  await untilState(
    options.home,
    (state) => childOf(state, 'nats-1').restarts === 1 && childOf(state, 'nats-1').state === 'up',
  );
});

t.test('a process that keeps crashing is restarted ever more slowly', async (t) => {
  const { options, report } = await planTestCluster(t, {
    actors: { 'worker-1': 'frail', 'worker-2': 'serve' },
  });
  await bringUp(options, report);
  const state = await untilState(options.home, (now) => childOf(now, 'worker-1').restarts >= 3);
  t.equal(childOf(state, 'worker-2').restarts, 0);
  const log = readFileSync(join(options.home, 'logs/supervisor.log'), 'utf8');
  const delays = log
    .split('\n')
    .filter((line) => line.includes('child.exited'))
    .map((line) => (JSON.parse(line) as { delayMs: number }).delayMs);
  t.ok((delays[2] ?? 0) > (delays[0] ?? 0), `waits grow: ${delays.map(Math.round).join(', ')} ms`);
});

t.test('an actor that gives up later is shown as failed and not restarted', async (t) => {
  const { options, report } = await planTestCluster(t, {
    actors: { 'worker-1': 'serve', 'worker-2': 'serve' },
  });
  const { cluster } = await bringUp(options, report);
  process.kill(processOf(cluster, 'worker-1').pid, 'SIGUSR2');
  const state = await untilState(options.home, (now) => childOf(now, 'worker-1').state === 'failed');
  t.match(childOf(state, 'worker-1'), {
    restarts: 0,
    process: null,
    lastExit: { code: 2, words: 'stub: my settings are wrong' },
  });
  t.equal(childOf(state, 'worker-2').state, 'up');
});

t.test('two clusters live side by side', async (t) => {
  const one = await planTestCluster(t);
  const two = await planTestCluster(t);
  const both = await Promise.all([bringUp(one.options, one.report), bringUp(two.options, two.report)]);
  await bringDown(one.options, one.report);
  t.strictSame(aliveIn(both[0].cluster), []);
  t.equal(aliveIn(both[1].cluster).length, 3);
});

t.test('three servers agree and come up again with their data', async (t) => {
  const { options, report } = await planTestCluster(t, { nodes: 3 });
  const { cluster } = await bringUp(options, report);
  t.equal(cluster.urls.length, 3);
  t.equal(cluster.children.filter(({ role, state }) => role === 'nats' && state === 'up').length, 3);
  await bringDown(options, report);
  t.strictSame(await findBusyPorts(allPorts(cluster.ports)), []);
  t.equal((await bringUp(options, report)).outcome, 'started');
  await bringDown(options, report);
  await t.rejects(bringUp({ ...options, nodes: 1 }, report), {
    code: 'CONFLICT',
    message: /written by 3 server/,
  });
});

t.test('up and down at the same time', async (t) => {
  const { options, report } = await planTestCluster(t);
  const ups = await Promise.all([
    bringUp(options, report),
    bringUp(options, report),
    bringUp(options, report),
  ]);
  t.strictSame(ups.map(({ outcome }) => outcome).sort(), ['already-up', 'already-up', 'started']);
  t.equal(new Set(ups.map(({ cluster }) => cluster.supervisor.pid)).size, 1, 'one cluster');

  const downs = bringDown(options, report);
  const [, , up] = await Promise.all([
    downs,
    bringDown(options, report),
    untilStopping(options.home).then(() => bringUp(options, report)),
  ]);
  t.equal(up.outcome, 'started', 'an up during a down waits and starts anew');
  t.equal((await readLocalStatus(options.home)).condition, 'running');
});

async function untilStopping(home: string): Promise<void> {
  for (;;) {
    const { cluster } = await readLocalStatus(home);
    if (cluster?.phase !== 'up') return;
  }
}
