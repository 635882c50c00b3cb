/** Starts of a local cluster that fail: why is said, and nothing is left. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import t from 'tap';
import { bringDown } from '../../src/local/down.ts';
import { readLocalStatus } from '../../src/local/status.ts';
import { bringUp } from '../../src/local/up.ts';
import { aliveIn, childOf, kill, nothingLeft, planTestCluster, untilState } from '../kit/local-cluster.ts';

t.test('what cannot start says why, and nothing is left', async (t) => {
  for (const [behaviour, expected] of [
    ['crash', /worker-1 ended at its start with exit code 1\n {2}stub: I crash/],
    ['misused', /worker-1 ended at its start with exit code 2\n {2}stub: I misused/],
  ] as const) {
    const { options, report } = await planTestCluster(t, { actors: { 'worker-1': behaviour } });
    await t.rejects(bringUp(options, report), { message: expected, hint: /logs\/worker-1\.log/ }, behaviour);
    await nothingLeft(t, options.home);
  }
  const late = await planTestCluster(t, { actors: { 'worker-1': 'mute' }, startMaxMs: 2_000 });
  await t.rejects(bringUp(late.options, late.report), {
    code: 'TIMEOUT',
    message: /worker-1 was not ready in time/,
  });
  await nothingLeft(t, late.options.home);

  const refused = await planTestCluster(t, { supervisor: 'refuse' });
  await t.rejects(bringUp(refused.options, refused.report), {
    code: 'REJECTED',
    message: 'the streams do not fit',
  });
  await nothingLeft(t, refused.options.home);

  const hung = await planTestCluster(t, { supervisor: 'hang', startMaxMs: 2_000 });
  await t.rejects(bringUp(hung.options, hung.report), { code: 'TIMEOUT', message: /streams and buckets/ });
  await nothingLeft(t, hung.options.home);

  const dead = await planTestCluster(t, { supervisor: 'die' });
  await t.rejects(bringUp(dead.options, dead.report), {
    message: /the supervisor ended at its start \(exit code 3\)/,
  });

  const noServer = await planTestCluster(t, { natsServer: '/nonexistent/nats-server' });
  await t.rejects(bringUp(noServer.options, noServer.report), { message: /nats-1 ended.*\n.*ENOENT/ });
});

t.test('busy ports are explained before anything starts', async (t) => {
  const stranger = createServer().listen(0, '127.0.0.1');
  t.teardown(() => stranger.close());
  await once(stranger, 'listening');
  const { port } = stranger.address() as { port: number };
  const { options, report } = await planTestCluster(t);
  await t.rejects(bringUp({ ...options, httpPort: port - options.portBase + 4222 }, report), {
    code: 'CONFLICT',
    message: `port ${port} is taken by another program`,
    hint: /--port-base/,
  });

  const other = await planTestCluster(t);
  const { cluster } = await bringUp(other.options, other.report);
  await t.rejects(bringUp({ ...options, portBase: other.options.portBase }, report), {
    code: 'CONFLICT',
    message: new RegExp(
      `port ${other.options.portBase} is taken by nats-server \\d+\\.\\d+\\.\\d+ \\(trawl-1\\)`,
    ),
  });
  t.equal((await readLocalStatus(options.home)).condition, 'absent', 'no state was written');
  t.equal(aliveIn(cluster).length, 3, 'the stranger lives');
});

t.test('a start whose supervisor is killed is swept away', async (t) => {
  const { options, report } = await planTestCluster(t, { actors: { 'worker-1': 'mute' } });
  const up = bringUp(options, report);
  up.catch(() => undefined);
  const state = await untilState(options.home, (now) => childOf(now, 'worker-1').state === 'starting');
  await kill(state.supervisor);
  await t.rejects(up, { code: 'INTERNAL', message: /the supervisor ended at its start \(SIGKILL\)/ });
  t.strictSame(aliveIn(state), []);
  await nothingLeft(t, options.home);
});

t.test('a start whose launcher goes away is undone', async (t) => {
  const { options } = await planTestCluster(t, { actors: { 'worker-1': 'mute' } });
  const { supervisorCommand, ...plan } = options;
  mkdirSync(options.home);
  const [program = '', ...args] = supervisorCommand;
  const supervisor = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  await once(supervisor, 'message');
  supervisor.send({ ...plan, startMaxMs: 30_000 });
  await untilState(options.home, (now) => childOf(now, 'worker-1').state === 'starting');
  supervisor.disconnect();
  t.strictSame(await once(supervisor, 'exit'), [1, null]);
  await nothingLeft(t, options.home);
});

t.test('down during up stops what was started', async (t) => {
  const { options, report } = await planTestCluster(t, { actors: { 'worker-1': 'mute' } });
  const up = bringUp(options, report);
  up.catch(() => undefined);
  await untilState(options.home, (state) => childOf(state, 'worker-1').state === 'starting');
  t.strictSame(await bringDown(options, report), { outcome: 'stopped' });
  await t.rejects(up, { code: 'CANCELLED' });
  await nothingLeft(t, options.home);
});
