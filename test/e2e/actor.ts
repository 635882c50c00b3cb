/** One actor as a process: it takes its id, beats, drains on a signal, and tells who it is. */
import t from 'tap';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Beat } from '../../src/domain/beat.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { watchBeats } from '../../src/nats/beats.ts';
import { askActor } from '../../src/nats/mailbox.ts';
import { createNames } from '../../src/wire/names.ts';
import { quietLog, startNatsServer } from '../kit/nats-server.ts';
import { installTrawl } from '../kit/trawl.ts';

const server = await startNatsServer(t);
const connection = await server.connect();
const trawl = await installTrawl(t, { NATS_URL: server.url });
t.equal((await trawl.run('topology', 'apply')).code, 0);
const names = createNames('trawl');
const bucket = openBucket(connection, names.bucket('cluster'));

interface Watched {
  readonly beats: Beat[];
  until(test: (beat: Beat) => boolean): Promise<Beat>;
}

/** Every record that one id ever shows, in order. */
async function watchActor(t: { teardown(undo: () => unknown): void }, id: string): Promise<Watched> {
  const beats: Beat[] = [];
  const waiting = new Set<() => void>();
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  await watchBeats(bucket, { log: quietLog, signal: stop.signal }, ({ beat }) => {
    if (beat?.id !== id) return;
    beats.push(beat);
    for (const look of waiting) look();
  });
  return {
    beats,
    until: (test) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = beats.find(test);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

t.test('a clean life: initializing, running, draining, stopped, exit 0', async (t) => {
  const watched = await watchActor(t, 'w-clean');
  const child = trawl.start('worker', '--id', 'w-clean');
  const running = await watched.until(({ status }) => status === 'running');
  t.match(running, { role: 'worker', pid: child.pid, paused: false, inFlight: 0 });
  t.ok(running.http?.startsWith('http://127.0.0.1:'));
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  t.equal(code, 0);
  await watched.until(({ status }) => status === 'stopped');
  const order = watched.beats
    .map(({ status }) => status)
    .filter((status, index, all) => status !== all[index - 1]);
  t.same(order, ['initializing', 'running', 'draining', 'stopped']);
  t.same(new Set(watched.beats.map(({ startedAt }) => startedAt)).size, 1, 'startedAt stays');
});

t.test('a second actor with the same id refuses to start and says who has it', async (t) => {
  const watched = await watchActor(t, 'w-twin');
  const first = trawl.start('worker', '--id', 'w-twin');
  await watched.until(({ status }) => status === 'running');
  const second = await trawl.run('worker', '--id', 'w-twin');
  t.equal(second.code, 1);
  t.match(
    second.stderr,
    new RegExp(`another worker with id w-twin is running on host .* \\(pid ${first.pid ?? 0}\\)`),
  );
  t.match(second.stderr, /--id/);
});

t.test('after a kill -9 the same id is free again at once on this machine', async (t) => {
  const watched = await watchActor(t, 'w-phoenix');
  const first = trawl.start('worker', '--id', 'w-phoenix');
  await watched.until(({ status }) => status === 'running');
  first.kill('SIGKILL');
  await once(first, 'exit');
  const second = trawl.start('worker', '--id', 'w-phoenix');
  const again = await watched.until(({ status, pid }) => status === 'running' && pid === second.pid);
  t.not(again.startedAt, watched.beats[0]?.startedAt);
});

t.test('an id is made up when none is given, and WORKER_ID sets one', async (t) => {
  const watched = await watchActor(t, 'from-env');
  const named = await installTrawl(t, { NATS_URL: server.url, WORKER_ID: 'from-env' });
  named.start('worker');
  t.equal((await watched.until(({ status }) => status === 'running')).id, 'from-env');
  const unnamed = trawl.start('worker', '--log-format', 'json');
  if (!unnamed.stderr) throw new Error('no pipe');
  const lines: string[] = [];
  for await (const chunk of unnamed.stderr.setEncoding('utf8')) {
    lines.push(String(chunk));
    if (lines.join('').includes('actor.started')) break;
  }
  t.match(lines.join(''), new RegExp(`"id":"[A-Za-z0-9_-]+-${unnamed.pid ?? 0}-[0-9a-f]{6}"`));
});

t.test('the mailbox ends an actor at once, after its answer', async (t) => {
  const watched = await watchActor(t, 'w-told');
  const child = trawl.start('worker', '--id', 'w-told');
  await watched.until(({ status }) => status === 'running');
  const exited = once(child, 'exit') as Promise<[number | null]>;
  t.same(
    await askActor(connection, { names, role: 'worker', id: 'w-told', verb: 'stop', timeoutMs: 5_000 }),
    { ok: true, status: 'stopping' },
  );
  t.equal((await exited)[0], 0);
  await watched.until(({ status }) => status === 'stopped');
});

for (const [signal, codeOfSecond] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)
  t.test(`a second ${signal} ends the process at once`, async (t) => {
    // Stopped while it waits for a server that never comes: nothing to drain, nothing to write.
    const lonely = trawl.start('worker', '--id', 'w-lonely', '--nats-url', 'nats://127.0.0.1:1');
    if (!lonely.stderr) throw new Error('no pipe');
    await once(lonely.stderr, 'data');
    lonely.kill(signal);
    const [code] = (await once(lonely, 'exit')) as [number];
    t.equal(code, 0, 'the first signal ends the wait');

    const id = `w-frozen-${signal}`;
    const watched = await watchActor(t, id);
    const frozen = trawl.start('worker', '--id', id);
    await watched.until(({ status }) => status === 'running');
    server.signal('SIGSTOP'); // the goodbye cannot be stored now
    frozen.kill(signal);
    // Both signals at once would be one: the second is sent when the first was heard.
    if (frozen.stderr) void text(frozen.stderr).catch(() => undefined);
    const exited = once(frozen, 'exit') as Promise<[number | null, string | null]>;
    const again = setInterval(() => frozen.kill(signal), 50);
    const [secondCode] = await exited;
    clearInterval(again);
    server.signal('SIGCONT');
    t.equal(secondCode, codeOfSecond);
  });

t.test('trawl all runs one of each in a single process', async (t) => {
  const watched = await watchActor(t, 'solo');
  const child = trawl.start('all', '--id', 'solo', '--http-port', '0');
  const running = await Promise.all(
    ['coordinator', 'proxy-manager', 'worker', 'exporter', 'autoscaler'].map((role) =>
      watched.until((beat) => beat.role === role && beat.status === 'running'),
    ),
  );
  t.same(new Set(running.map(({ pid }) => pid)), new Set([child.pid]));
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number];
  t.equal(code, 0);
});

t.test('an actor survives the restart of its server', async (t) => {
  const watched = await watchActor(t, 'w-survivor');
  const child = trawl.start(
    'worker',
    '--id',
    'w-survivor',
    '--heartbeat-interval',
    '200ms',
    '--heartbeat-dead-after',
    '60s',
  );
  await watched.until(({ status }) => status === 'running');
  await server.kill('SIGKILL');
  await server.start();
  const before = Date.now();
  await watched.until(({ beatAt }) => beatAt > before);
  t.equal(child.exitCode, null);
});
