/** The local cluster as a person uses it: up, look, break, down, up again, clean. All through the built program. */
import t from 'tap';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { connectNats, type Connection } from '../../src/nats/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { askActor } from '../../src/nats/mailbox.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { listBeats, watchBeats } from '../../src/nats/beats.ts';
import type { ActorRow } from '../../src/policy/actor-rows.ts';
import { createNames } from '../../src/wire/names.ts';
import { guard, natsServerPath, quietLog, type Teardown } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl, type Program } from '../kit/trawl.ts';

interface Status {
  readonly local: string;
  readonly actors: readonly ActorRow[];
}

interface Up {
  readonly outcome: string;
  readonly cluster: {
    ports: { client: number[]; monitor: number[]; http: number };
    contexts: { app: string; sys: string };
  };
  readonly workers: { wanted: number; perMachine: number; here: number; machines: number };
  readonly differences?: { name: string; running: string; requested: string }[];
}

const names = createNames('trawl');

async function connect(t: Teardown, trawl: Program): Promise<Connection> {
  const password = new Secret(readFileSync(join(trawl.home, 'secrets/app.password'), 'utf8').trim());
  const connection = await connectNats({
    access: { url: [`nats://127.0.0.1:${trawl.portBase}`], user: 'trawl', password },
    name: 'test',
    log: quietLog,
    whenUnreachable: 'fail',
  });
  t.teardown(() => connection.close());
  return connection;
}

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

t.test('one cluster, from up to clean', { timeout: 120_000 }, async (t) => {
  // After its first look the autoscaler does nothing: one may be drained, and nobody takes its place.
  const trawl = await installTrawl(t, {
    WORKERS: '3',
    TRAWL_LOCAL_WORKERS_PER_MACHINE: '2',
    TRAWL_AUTOSCALE_INTERVAL: '1h',
  });
  const up = await trawl.json<Up>('up');
  t.equal(up.outcome, 'started');
  t.same(up.workers, { wanted: 3, perMachine: 2, here: 2, machines: 2 });

  const { actors } = await trawl.json<Status>('status');
  t.same(
    actors.map(({ id, state }) => `${id} ${state}`),
    [
      'nats-1 up',
      'autoscaler-1 running',
      'coordinator-1 running',
      'exporter-1 running',
      'proxy-manager-1 running',
      'worker-1 running',
      'worker-2 running',
    ],
  );

  t.test('a second up says that it is up, and what differs', async (t) => {
    const again = await trawl.json<Up>('up', '--workers', '5');
    t.equal(again.outcome, 'already-up');
    t.same(again.differences, [{ name: 'workers', running: '3', requested: '5' }]);
    const said = await trawl.run('up');
    t.match(said.stdout, /is already up\./);
    t.match(said.stdout, /3 workers at 2 per machine need 2 machines; 2 run here, .*npx trawl worker/);
    t.match(await trawl.run('scale', 'worker=3'), {
      code: 2,
      stderr: /no more than 2 workers may run on this machine\n.*local\.workersPerMachine/,
    });
    t.match(said.stdout, `nats --context ${up.cluster.contexts.app} micro ls`);
  });

  t.test('the nats CLI finds a context that works, readable by its owner only', async (t) => {
    const file = join(trawl.configHome, 'nats/context', `${up.cluster.contexts.app}.json`);
    const context = JSON.parse(readFileSync(file, 'utf8')) as { url: string; user: string; password: string };
    const connection = await connectNats({
      access: { url: context.url.split(','), user: context.user, password: new Secret(context.password) },
      name: 'context',
      log: quietLog,
      whenUnreachable: 'fail',
    });
    t.teardown(() => connection.close());
    t.ok((await connection.jsm.getAccountInfo()).streams >= 7);
  });

  t.test('every actor serves its health and its metrics', async (t) => {
    for (const { page, id } of actors.filter(({ role }) => role !== 'nats')) {
      for (const path of ['/healthz', '/readyz', '/metrics']) {
        const response = await fetch(`${page ?? ''}${path}`);
        t.equal(response.status, 200, `${id} ${path}`);
        const body = await response.text();
        if (path === '/metrics') t.match(body, /trawl_event_loop_stall_seconds\{.*\} \d/);
      }
    }
    // One look answers all that ask within a second, and the first one was early.
    const page = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${up.cluster.ports.http}/metrics`)).text();
    await untilSo(page, (text) => text.includes('trawl_actors{actor_role="worker",status="running"} 2'));
  });

  t.test('a mailbox answers, and refuses nonsense with words', async (t) => {
    const connection = await connect(t, trawl);
    const ask = (verb: string, body?: unknown): Promise<unknown> =>
      askActor(connection, { names, role: 'worker', id: 'worker-1', verb, body, timeoutMs: 5_000 });
    t.match(await ask('status'), { id: 'worker-1', role: 'worker', status: 'running', paused: false });
    t.same(await ask('pause'), { ok: true, paused: true });
    t.match(await ask('status'), { paused: true });
    t.same(await ask('resume'), { ok: true, paused: false });
    t.same(await ask('log-level', { level: 'debug' }), { ok: true, level: 'debug' });
    await t.rejects(ask('log-level', { level: 'loud' }), {
      code: 'INVALID',
      message: /debug\|info\|warn\|error/,
    });
    await t.rejects(
      askActor(connection, { names, role: 'worker', id: 'nobody', verb: 'status', timeoutMs: 500 }),
      { code: 'UNAVAILABLE' },
    );
  });

  t.test('a killed worker is started again under its id', async (t) => {
    const connection = await connect(t, trawl);
    const victim = actors.find(({ id }) => id === 'worker-2');
    const done = new AbortController();
    const back = new Promise<void>((resolve) => {
      void watchBeats(
        openBucket(connection, names.bucket('cluster')),
        { log: quietLog, signal: done.signal },
        ({ beat }) => {
          if (beat?.id === 'worker-2' && beat.pid !== victim?.pid && beat.status === 'running') resolve();
        },
      );
    });
    process.kill(victim?.pid ?? 0, 'SIGKILL');
    await back;
    done.abort();
    const row = (await trawl.json<Status>('status')).actors.find(({ id }) => id === 'worker-2');
    t.match(row, { state: 'running', restarts: 1 });
  });

  t.test('a drained worker ends and is not started again', async (t) => {
    const connection = await connect(t, trawl);
    const done = new AbortController();
    const gone = new Promise<void>((resolve) => {
      void watchBeats(
        openBucket(connection, names.bucket('cluster')),
        { log: quietLog, signal: done.signal },
        ({ beat }) => {
          if (beat?.id === 'worker-1' && beat.status === 'stopped') resolve();
        },
      );
    });
    await askActor(connection, { names, role: 'worker', id: 'worker-1', verb: 'drain', timeoutMs: 5_000 });
    await gone;
    done.abort();
    const row = (await trawl.json<Status>('status')).actors.find(({ id }) => id === 'worker-1');
    t.equal(row?.state, 'stopped');
  });

  t.test('doctor finds nothing wrong, then finds what was broken', async (t) => {
    t.match(await trawl.json('doctor'), { healthy: true });
    const connection = await connect(t, trawl);
    await connection.jsm.streams.update('EVENTS', { max_bytes: 1_000_000 });
    const diff = await trawl.run('topology', 'diff');
    t.equal(diff.code, 1);
    t.match(diff.stdout, /stream EVENTS drifted\n {2}max_bytes: want 268435456, have 1000000/);
    const doctor = await trawl.run('doctor');
    t.match(doctor.stdout, /warn {2}topology +EVENTS differs/);
    t.match((await trawl.run('topology', 'apply')).stdout, /updated stream EVENTS/);
    t.equal((await trawl.run('topology', 'diff')).code, 0);
  });

  t.test('down leaves no process and no port, and keeps the data', async (t) => {
    const connection = await connect(t, trawl);
    await connection.js.publish('trawl.event.test.kept', 'kept');
    const before = (await trawl.json<Status>('status')).actors.map(({ pid }) => pid);
    const down = await trawl.run('down');
    t.match(down, { code: 0, stdout: /has stopped/ });
    for (const pid of before) {
      if (pid !== undefined) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' }, `process ${pid}`);
    }
    for (const port of [...up.cluster.ports.client, ...up.cluster.ports.monitor, up.cluster.ports.http]) {
      t.notOk(await isListening(port), `port ${port}`);
    }
    t.match(await trawl.run('status'), {
      code: 3,
      stderr: /the local cluster is not running.*\nStart it with `trawl up`/s,
    });
    t.match(await trawl.run('down'), { code: 0, stdout: /No cluster runs/ });
  });

  t.test('nobody is left in the data: no lock, no lease, and whoever beat has said goodbye', async (t) => {
    const server = spawn(natsServerPath(), ['-c', join(trawl.home, 'nats-1.conf')], { stdio: 'ignore' });
    guard(server);
    const gone = once(server, 'exit');
    await untilSo(
      () => isListening(trawl.portBase),
      (is) => is,
    );
    const connection = await connect(t, trawl);
    for (const name of ['cluster', 'egress'] as const)
      for (const filter of ['lock.>', 'lease.>'])
        t.same(await openBucket(connection, names.bucket(name)).list(filter), [], `${name}: ${filter}`);
    const beats = await listBeats(openBucket(connection, names.bucket('cluster')), quietLog);
    t.same(new Set(beats.map(({ status }) => status)), new Set(['stopped']));
    await connection.close();
    server.kill('SIGTERM');
    await gone;
  });

  t.test('up again finds the data, no lock of the past stands in the way', async (t) => {
    t.match(await trawl.json('up'), { outcome: 'started' });
    const connection = await connect(t, trawl);
    const message = await connection.jsm.streams.getMessage('EVENTS', {
      last_by_subj: 'trawl.event.test.kept',
    });
    t.equal(message?.string(), 'kept');
  });

  t.test('clean removes everything', async (t) => {
    t.match(await trawl.run('down', '--clean'), { code: 0, stdout: /is removed/ });
    t.notOk(existsSync(trawl.home));
    t.same(readdirSync(join(trawl.configHome, 'nats/context')), []);
  });
});
