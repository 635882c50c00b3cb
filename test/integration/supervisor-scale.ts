/** The workers of a local cluster, more and fewer while it runs. */
import { join } from 'node:path';
import t from 'tap';
import { createProcessDriver } from '../../src/drivers/process.ts';
import { askSupervisor } from '../../src/local/ask-supervisor.ts';
import { bringDown } from '../../src/local/down.ts';
import { readClusterState, type ClusterState } from '../../src/local/state.ts';
import { bringUp } from '../../src/local/up.ts';
import { aliveIn, childOf, kill, planTestCluster, processOf, untilState } from '../kit/local-cluster.ts';
import { makeWorker } from '../kit/snapshots.ts';

t.test('workers are added, and let go when they drain', async (t) => {
  const { options, report } = await planTestCluster(t, {
    actors: { 'worker-1': 'serve', 'worker-2': 'serve' },
    furtherWorker: { args: ['serve', '{id}'] },
  });
  const { home } = options;
  await bringUp(options, report);
  const socket = join(home, 'control.sock');
  const ask = async (request: Parameters<typeof askSupervisor>[1]) =>
    askSupervisor(socket, request, { limitMs: 20_000 });
  const workers = (state: ClusterState): string[] =>
    state.children.filter(({ role }) => role === 'worker').map(({ name, state: how }) => `${name} ${how}`);

  const added = await ask({ op: 'add-workers', count: 2 });
  if (added.kind !== 'answered') throw new Error(JSON.stringify(added));
  t.strictSame(workers(added.state), ['worker-1 up', 'worker-2 up', 'worker-3 up', 'worker-4 up']);
  t.strictSame(readClusterState(join(home, 'cluster.json')), added.state, 'the file knows them');
  const again = await bringUp(options, report);
  t.match(again, { outcome: 'already-up', differences: [] }, 'a second up changes nothing');

  const going = await ask({ op: 'let-go', name: 'worker-2' });
  if (going.kind !== 'answered') throw new Error(JSON.stringify(going));
  t.equal(childOf(going.state, 'worker-2').state, 'stopping', 'it lives on until it ends by itself');
  t.ok(aliveIn(going.state).includes('worker-2'));
  await kill(processOf(going.state, 'worker-2')); // even a bad end is its last
  const left = await untilState(home, (state) => workers(state).length === 3);
  t.strictSame(workers(left), ['worker-1 up', 'worker-3 up', 'worker-4 up']);
  const back = await ask({ op: 'add-workers', count: 1 });
  if (back.kind !== 'answered') throw new Error(JSON.stringify(back));
  t.strictSame(
    workers(back.state).sort(),
    ['worker-1 up', 'worker-2 up', 'worker-3 up', 'worker-4 up'],
    'its name is free',
  );

  t.match(await ask({ op: 'let-go', name: 'nats-1' }), { kind: 'failed', failure: { code: 'INVALID' } });
  t.match(await ask({ op: 'add-workers', count: 0 }), { kind: 'failed' });
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  t.strictSame(aliveIn(back.state), [], 'also those that came later');
});

t.test('the autoscaler of a machine stays within what may run there', async (t) => {
  const { options, report } = await planTestCluster(t, {
    actors: { 'worker-1': 'serve' },
    furtherWorker: { args: ['serve', '{id}'] },
  });
  await bringUp(options, report);
  const driver = createProcessDriver({
    socket: join(options.home, 'control.sock'),
    control: { drain: () => Promise.resolve() },
    perMachine: 2,
  });
  const over = new AbortController().signal;
  const workers = [makeWorker({ id: 'far' })];
  t.equal(await driver.count(workers), 2, 'with one that runs elsewhere');
  t.equal(driver.most?.(), 3);
  await t.rejects(driver.apply({ from: 2, to: 4, workers }, over), {
    code: 'INVALID',
    message: /no more than 2 workers may run on this machine/,
  });
  await driver.apply({ from: 2, to: 3, workers }, over);
  t.equal(await driver.count(workers), 3);
  t.equal(await driver.count([]), 2);
  t.equal(driver.most?.(), 2, 'whoever has gone elsewhere makes no room here');
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
});

t.test(
  'a further worker that does not come up is told, and a down in the meantime ends everything',
  async (t) => {
    const { options, report } = await planTestCluster(t, { furtherWorker: { args: ['crash'] } });
    const { cluster } = await bringUp(options, report);
    const socket = join(options.home, 'control.sock');
    const failed = await askSupervisor(socket, { op: 'add-workers', count: 1 }, { limitMs: 20_000 });
    t.match(failed, { kind: 'failed', failure: { message: /worker-2 ended at its start[\s\S]*I crash/ } });
    t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
    t.strictSame(aliveIn(cluster), []);

    const mute = await planTestCluster(t, { furtherWorker: { args: ['mute'] } });
    await bringUp(mute.options, mute.report);
    const asked = askSupervisor(
      join(mute.options.home, 'control.sock'),
      { op: 'add-workers', count: 1 },
      { limitMs: 20_000 },
    );
    await untilState(mute.options.home, (state) => state.children.length === 3);
    t.strictSame(await bringDown(mute.options, mute.report), { outcome: 'stopped' });
    t.match(await asked, { kind: 'failed' });
  },
);
