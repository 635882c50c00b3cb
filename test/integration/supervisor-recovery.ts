/** A local cluster after something went wrong: dead or deaf supervisors, pids of strangers, lost files. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanHome } from '../../src/local/clean.ts';
import { bringDown } from '../../src/local/down.ts';
import { readLocalStatus } from '../../src/local/status.ts';
import { writeClusterState } from '../../src/local/state.ts';
import { bringUp } from '../../src/local/up.ts';
import { aliveIn, kill, planTestCluster } from '../kit/local-cluster.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

t.test('the supervisor is killed: down recovers', async (t) => {
  const { options, said, report } = await planTestCluster(t, {
    actors: { 'worker-1': 'stubborn', 'worker-2': 'serve' },
    stopGraceMs: 300,
  });
  const { cluster } = await bringUp(options, report);
  await kill(cluster.supervisor);
  t.match(await readLocalStatus(options.home), { condition: 'half-dead' });
  t.throws(
    () => cleanHome(options),
    { code: 'CONFLICT', message: /runs \(nats-1/ },
    'data in use is not removed',
  );
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  t.match(said.join('\n'), /the supervisor is gone and left processes behind/);
  t.match(said.join('\n'), /worker-1 did not end in time and is killed/);
  t.strictSame(aliveIn(cluster), []);
  t.equal((await readLocalStatus(options.home)).condition, 'stopped');
});

t.test('the supervisor is killed: up recovers', async (t) => {
  const { options, said, report } = await planTestCluster(t);
  const { cluster } = await bringUp(options, report);
  await kill(cluster.supervisor);
  const again = await bringUp(options, report);
  t.equal(again.outcome, 'started');
  t.match(said.join('\n'), /the last supervisor died and left processes behind/);
  t.strictSame(aliveIn(cluster), [], 'nothing of the first cluster lives');
});

t.test('a server that was too young to be recorded is found by its pid file', async (t) => {
  const { options, report } = await planTestCluster(t);
  const { cluster } = await bringUp(options, report);
  await kill(cluster.supervisor);
  const file = join(options.home, 'cluster.json');
  writeClusterState(file, { ...cluster, children: [] });
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  t.notOk(aliveIn(cluster).includes('nats-1'));
});

t.test('a supervisor that hangs is ended by down', async (t) => {
  const { options, said, report } = await planTestCluster(t);
  const { cluster } = await bringUp(options, report);
  process.kill(cluster.supervisor.pid, 'SIGSTOP');
  t.equal((await readLocalStatus(options.home)).condition, 'silent');
  await t.rejects(bringUp(options, report), { code: 'TIMEOUT', message: /does not answer/ });
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  t.match(said.join('\n'), /does not answer and is ended/);
  t.strictSame(aliveIn(cluster), []);
});

t.test('a pid that belongs to a stranger by now is left alone', async (t) => {
  const { options, said, report } = await planTestCluster(t);
  const { cluster } = await bringUp(options, report);
  await bringDown(options, report);
  const me = { pid: process.pid, mark: 'another time' };
  const children = cluster.children.map((child) => ({ ...child, process: me }));
  writeClusterState(join(options.home, 'cluster.json'), { ...cluster, supervisor: me, children });
  t.equal((await readLocalStatus(options.home)).condition, 'stale');
  t.strictSame(await bringDown(options, report), { outcome: 'not-running' }, 'this test still runs');
  t.match(said.join('\n'), /belongs to another program now and is left alone/);

  writeClusterState(join(options.home, 'cluster.json'), { ...cluster, supervisor: me, children });
  t.equal((await bringUp(options, report)).outcome, 'started');
});

t.test('clean refuses while the cluster is up, refuses a stranger, keeps what is not ours', async (t) => {
  const { options, report } = await planTestCluster(t);
  await bringUp(options, report);
  t.throws(() => cleanHome(options), { code: 'CONFLICT', message: /runs \(supervisor/ });
  await bringDown(options, report);
  writeFileSync(join(options.home, 'notes.txt'), 'mine');
  const result = cleanHome(options);
  t.strictSame(result.kept, ['notes.txt']);
  t.strictSame(result.contexts, ['trawl', 'trawl-sys']);
  t.ok(result.removed.includes('data'));
  t.throws(() => cleanHome(options), { code: 'INVALID' }, 'without its marker the folder is a stranger');
});

t.test('a supervisor whose socket was deleted is stopped all the same', async (t) => {
  const { options, report } = await planTestCluster(t);
  const { cluster } = await bringUp(options, report);
  rmSync(join(options.home, 'control.sock'));
  t.equal((await readLocalStatus(options.home)).condition, 'silent');
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  t.strictSame(aliveIn(cluster), []);
});

t.test('a state file that does not read is no obstacle', async (t) => {
  const { options, report } = await planTestCluster(t);
  const { cluster } = await bringUp(options, report);
  await kill(cluster.supervisor);
  writeFileSync(join(options.home, 'cluster.json'), '{"version":');
  t.equal((await bringUp(options, report)).outcome, 'started');
});

t.test('a home with a long path, and a home that is not ours', async (t) => {
  const folder = join(temporaryFolder(t), 'x'.repeat(100));
  const { options, report } = await planTestCluster(t, { home: join(folder, '.trawl') });
  const { cluster } = await bringUp(options, report);
  t.equal((await bringUp(options, report)).outcome, 'already-up');
  await bringDown(options, report);
  t.strictSame(aliveIn(cluster), []);

  mkdirSync(join(folder, 'data'));
  await t.rejects(bringUp({ ...options, home: folder }, report), { code: 'INVALID', message: /holds data/ });
  await t.rejects(bringUp({ ...options, home: '/' }, report), { code: 'INVALID' });
});

t.test('who does not end in time is killed, and it is said', async (t) => {
  const { options, said, report } = await planTestCluster(t, {
    actors: { 'worker-1': 'stubborn', 'worker-2': 'serve' },
    stopGraceMs: 100,
  });
  const { cluster } = await bringUp(options, report);
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  t.ok(said.includes('worker-1 did not end in time and was killed'));
  t.notOk(said.some((text) => text.startsWith('worker-2 did not end')));
  t.strictSame(aliveIn(cluster), []);
});
