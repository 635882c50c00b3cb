/** The registry of actors on a real server: one process per id, an honest record of each life, outages survived. */
import t from 'tap';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import type { BeatPatch } from '../../src/domain/beat.ts';
import { listBeats, type BeatChange } from '../../src/nats/beats.ts';
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import type { Identity } from '../../src/nats/identity.ts';
import { shareBeats } from '../../src/nats/shared-beats.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { claim, watch } from '../kit/actors.ts';
import { bytes, openClusterBucket, text } from '../kit/cluster-bucket.ts';
import { deafen } from '../kit/deafen.ts';
import { quietLog, startNatsServer } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';

const server = await startNatsServer(t);
const { bucket, connection } = await openClusterBucket(server);

t.test('a clean life is seen in its order, each record whole', async (t) => {
  const watcher = await watch(t, bucket);
  const identity = await claim(t, bucket, { id: 'clean', http: '127.0.0.1:8080' });
  await watcher.until('clean', ({ status }) => status === 'initializing');
  await identity.update({ status: 'running', limits: { lanes: 8 } });
  await watcher.until('clean', ({ status }) => status === 'running');
  await identity.update({ status: 'draining', inFlight: 2 });
  await watcher.until('clean', ({ status }) => status === 'draining');
  await identity.end();
  const last = await watcher.until('clean', ({ status }) => status === 'stopped');
  t.same(
    watcher.of('clean').map((beat) => beat?.status),
    ['initializing', 'running', 'draining', 'stopped'],
  );
  t.match(last, {
    host: hostname(),
    pid: process.pid,
    limits: { lanes: 8 },
    http: '127.0.0.1:8080',
    inFlight: 0,
  });
  t.same(new Set(watcher.of('clean').map((beat) => beat?.startedAt)), new Set([last.startedAt]));
  t.equal(identity.failures(), 0);

  await identity.update({ status: 'running' });
  t.equal(
    (await listBeats(bucket, quietLog)).find(({ id }) => id === 'clean')?.status,
    'stopped',
    'for good',
  );
  const kept = text((await bucket.get('beat.worker.clean'))?.value) ?? '';
  t.match(JSON.parse(kept), { id: 'clean', status: 'stopped' }, 'people can read it');
});

t.test(
  'several who follow the beats share one consumer, and who comes later is told what is there',
  async (t) => {
    const followers = async (): Promise<number> =>
      (await connection.jsm.streams.info(`KV_${bucket.name}`)).state.consumer_count;
    // Those of the tests before this one are on their way out.
    await untilSo(followers, (now) => now === 0);
    const [all, one, other] = [new AbortController(), new AbortController(), new AbortController()];
    t.teardown(() => all.abort());
    const follow = shareBeats(bucket, { log: quietLog, signal: all.signal });
    const heard = { one: [] as string[], other: [] as string[] };
    const listen =
      (list: string[]) =>
      ({ key, beat }: BeatChange): void => {
        if (key === 'beat.worker.shared') list.push(beat?.status ?? 'gone');
      };
    await follow(listen(heard.one), one.signal);
    const identity = await claim(t, bucket, { id: 'shared' });
    await untilSo(
      () => Promise.resolve(heard.one),
      ({ length }) => length === 1,
    );
    await follow(listen(heard.other), other.signal);
    t.same(heard.other, ['initializing']);
    t.equal(await followers(), 1);
    one.abort();
    await identity.update({ status: 'running' });
    await untilSo(
      () => Promise.resolve(heard.other),
      ({ length }) => length === 2,
    );
    t.same(heard, { one: ['initializing'], other: ['initializing', 'running'] });
  },
);

t.test('beats come by themselves, with what was measured', async (t) => {
  const watcher = await watch(t, bucket);
  let inFlight = 0;
  const identity = await claim(t, bucket, { id: 'busy' }, { measure: () => ({ inFlight: (inFlight += 1) }) });
  identity.start(50);
  await watcher.until('busy', (beat) => beat.inFlight >= 5);
  const times = watcher.of('busy').map((beat) => beat?.beatAt ?? 0);
  t.same(times, [...times].sort(), 'times rise');
});

t.test('an id that is in use is refused, with the words that help', async (t) => {
  const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5);
  await claim(t, bucket, { id: 'dup', host: 'far.example', place: 'elsewhere', pid: 4_242, startedAt });
  await t.rejects(claim(t, bucket, { id: 'dup' }), {
    code: 'CONFLICT',
    message:
      'another worker with id dup is running on host far.example (pid 4242) since 2026-01-02T03:04:05.000Z',
    hint: 'Choose another --id, or stop that one.',
  });
  await claim(t, bucket, { id: 'here' });
  await t.rejects(claim(t, bucket, { id: 'here' }), { code: 'CONFLICT' }, 'also within one process');
  await t.resolves(claim(t, bucket, { id: 'here', role: 'exporter' }), 'ids are per role');
  await t.rejects(claim(t, bucket, { id: 'a.b' }), { code: 'INVALID' });
  await bucket.put('beat.worker.junk', bytes('?'));
  await t.rejects(claim(t, bucket, { id: 'junk' }), { code: 'INVALID', hint: /nats kv get/ });
});

t.test('of many that want one id, one gets it', async (t) => {
  const claims = Array.from({ length: 20 }, (_, index) =>
    claim(t, bucket, { id: 'wanted', startedAt: Date.now() + index }),
  );
  const results = await Promise.allSettled(claims);
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

t.test('a predecessor that stopped, or died in this very place, leaves its id', async (t) => {
  const first = await claim(t, bucket, { id: 'heir', place: 'elsewhere' });
  await first.end();
  const second = await claim(t, bucket, { id: 'heir', pid: await deadPid() });
  const third = await claim(t, bucket, { id: 'heir' });
  t.equal(third.beat().pid, process.pid);

  await second.update({ status: 'running' });
  t.ok(second.lost.aborted, 'the one that was taken for dead knows');
  t.match(second.lost.reason, {
    code: 'CONFLICT',
    message: `the id heir was taken by a process on host ${hostname()} (pid ${process.pid})`,
  });
  t.equal((await listBeats(bucket, quietLog)).find(({ id }) => id === 'heir')?.pid, process.pid);
});

t.test('the record of an actor that fell silent expires, and its id is free', async (t) => {
  const watcher = await watch(t, bucket);
  const silent = await claim(t, bucket, { id: 'silent', place: 'elsewhere' }, { deadAfterMs: 1_000 });
  await watcher.until('silent', () => true);
  await watcher.untilGone('silent');

  const next = await claim(t, bucket, { id: 'silent' }, { deadAfterMs: 10_000 });
  await silent.update({ status: 'running' });
  t.ok(silent.lost.aborted, 'the first one comes back too late');
  t.notOk(next.lost.aborted);
});

t.test('who comes back to an expired record that nobody took, goes on', async (t) => {
  const watcher = await watch(t, bucket);
  const identity = await claim(t, bucket, { id: 'back' }, { deadAfterMs: 1_000 });
  await watcher.untilGone('back');
  await identity.update({ status: 'running' });
  t.notOk(identity.lost.aborted);
  t.equal(identity.failures(), 0);
  t.match(await watcher.until('back', ({ status }) => status === 'running'), {
    startedAt: identity.beat().startedAt,
  });
});

t.test('an outage is counted, told once, and ends neither the loop nor the claim', async (t) => {
  const lines: string[] = [];
  const recovered = gate();
  const log = createLog({
    level: 'info',
    format: 'json',
    write(line) {
      lines.push(line);
      if (line.includes('beat.recovered')) recovered.open();
    },
  });
  const failedTwice = gate();
  let identity: Identity | undefined = undefined;
  const measure = (): BeatPatch => {
    if ((identity?.failures() ?? 0) >= 2) failedTwice.open();
    return {};
  };
  identity = await claim(t, hasty(bucket), { id: 'outage' }, { log, measure });
  identity.start(50);
  await server.kill('SIGKILL');
  await failedTwice.passed;
  await server.start();
  await recovered.passed;
  t.ok(identity.failures() >= 2, `${identity.failures()} beats failed`);
  t.notOk(identity.lost.aborted);
  t.match(
    lines.map((line) => JSON.parse(line) as unknown),
    [
      { event: 'beat.failed', role: 'worker', id: 'outage' },
      { event: 'beat.recovered', failed: identity.failures() },
    ],
  );
});

t.test('a beat whose answer was lost is still ours', async (t) => {
  let deaf = false;
  const flaky = hasty(openBucket(deafen(connection, { answer: () => deaf }), 'cluster'));
  const identity = await claim(t, flaky, { id: 'deaf' });
  deaf = true;
  await identity.update({ status: 'running' });
  t.equal(identity.failures(), 1, 'as far as it knows');
  deaf = false;
  await identity.update({ status: 'draining' });
  t.notOk(identity.lost.aborted);
  t.equal(identity.failures(), 1);
  t.equal((await listBeats(bucket, quietLog)).find(({ id }) => id === 'deaf')?.status, 'draining');
});

t.test('a record that is none is told, and skipped', async (t) => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', format: 'json', write: (line) => lines.push(line) });
  await bucket.put('beat.worker.broken', bytes('{"id":"broken"}'));
  t.notOk((await listBeats(bucket, log)).some(({ id }) => id === 'broken'));
  t.ok(lines.some((line) => line.includes('beat.unreadable') && line.includes('beat.worker.broken')));
});

/** Gives up early, so that an outage is long enough for several beats. */
function hasty(real: Bucket): Bucket {
  return { ...real, put: (key, value, options) => real.put(key, value, { ...options, limitMs: 200 }) };
}

function gate(): { readonly passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

/** The pid of a process that has just ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}
