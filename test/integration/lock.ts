/** Locks on a real server: one holder, renewals, expiry, fencing, release by the owner alone. */
import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import { acquireLock, readHolder, withLock, type Lock } from '../../src/nats/lock.ts';
import { untilAborted } from '../../src/runtime/actor.ts';
import { bytes, listen, openClusterBucket, text } from '../kit/cluster-bucket.ts';
import { deafen } from '../kit/deafen.ts';
import { startNatsServer, type Teardown } from '../kit/nats-server.ts';

const server = await startNatsServer(t);
const { bucket, connection } = await openClusterBucket(server);

t.test('of fifty contenders one wins, and the others can tell who', async (t) => {
  const { bucket: other } = await openClusterBucket(server, 'other');
  const tries = Array.from({ length: 50 }, (_, index) =>
    acquireLock(index % 2 ? bucket : other, 'fifty', { ttlMs: 30_000, owner: `owner-${index}` }),
  );
  const winners = (await Promise.all(tries)).flatMap((lock, index) => (lock ? [{ lock, index }] : []));
  t.equal(winners.length, 1);
  const holder = await readHolder(bucket, 'fifty');
  t.equal(holder?.owner, `owner-${winners[0]?.index}`);
  t.ok(Math.abs((holder?.since ?? 0) - Date.now()) < 10_000);

  await winners[0]?.lock.release();
  t.equal(await readHolder(bucket, 'fifty'), undefined);
  const next = await take(t, bucket, 'fifty');
  t.ok(next.token() > 0);
});

t.test('renewal keeps a lock for longer than its time', async (t) => {
  const heard = await listen(t, bucket, 'lock.renewed');
  const lock = await take(t, bucket, 'renewed', { ttlMs: 3_000 });
  const first = await heard.until(({ entry }) => entry !== undefined);
  const from = first.entry?.storedAt ?? 0;
  await heard.until(({ entry }) => (entry?.storedAt ?? 0) > from + 3_500);
  t.notOk(heard.changes.some(({ entry }) => !entry));
  t.equal(await acquireLock(bucket, 'renewed', { ttlMs: 3_000, owner: 'late' }), undefined);
  t.notOk(lock.lost.aborted);
  t.ok(lock.token() > (first.entry?.revision ?? Infinity), 'each renewal gives a new token');
});

t.test('a lock whose holder died expires in time', async (t) => {
  const heard = await listen(t, bucket, 'lock.dead');
  const lock = await take(t, withoutRenewals(bucket, 'dead'), 'dead', { ttlMs: 2_000 });
  const taken = await heard.until(({ entry }) => entry !== undefined);
  await heard.until(({ reason }) => reason === 'expired');
  // By the clock of the server, which notes when it removed it: how long the news took does not matter.
  const marker = await connection.jsm.streams.getMessage('KV_cluster', {
    last_by_subj: '$KV.cluster.lock.dead',
  });
  const lastedMs = Date.parse(marker?.time.toISOString() ?? '') - (taken.entry?.storedAt ?? 0);
  t.ok(lastedMs >= 1_900 && lastedMs < 4_000, `expired after ${lastedMs} ms`);
  t.ok(lock.lost.aborted, 'the holder gave up before the server did');
  t.throws(() => lock.token(), { code: 'CONFLICT' });
});

t.test('a deposed holder is refused by the server, whatever it believes', async (t) => {
  const heard = await listen(t, bucket, 'lock.fenced');
  // Its clock stands still and its renewals are held back: it will never find out by itself.
  const old = await take(t, withoutRenewals(bucket, 'fenced'), 'fenced', { ttlMs: 1_000, now: () => 0 });
  await old.fencedPut('run.state', bytes('by the old one'));
  const stale = old.token();
  await heard.until(({ reason }) => reason === 'expired');
  await t.rejects(
    bucket.put('run.state', bytes('x'), { fence: { key: 'lock.fenced', revision: stale } }),
    { code: 'CONFLICT' },
    'already when it expired',
  );

  const fresh = await take(t, bucket, 'fenced', { ttlMs: 10_000 });
  await fresh.fencedPut('run.state', bytes('by the new one'));
  t.equal(old.token(), stale, 'the old one still believes');
  await t.rejects(old.fencedPut('run.state', bytes('by the old one')), {
    code: 'CONFLICT',
    message: /lock\.fenced, which guards run\.state, .* was changed by someone else/,
  });
  t.equal(text((await bucket.get('run.state'))?.value), 'by the new one');

  await old.release();
  t.notOk(fresh.lost.aborted);
  t.equal((await bucket.get('lock.fenced'))?.revision, fresh.token(), 'and its release was refused');
});

t.test('a fenced write that the server refuses tells the holder that it is none', async (t) => {
  const lock = await take(t, bucket, 'stolen', { ttlMs: 30_000 });
  await lock.fencedPut('run.stolen', bytes('mine'));
  await bucket.put('lock.stolen', bytes('{"owner":"thief"}'));
  await t.rejects(lock.fencedPut('run.stolen', bytes('late')), { code: 'CONFLICT' });
  t.ok(lock.lost.aborted);
  t.match(lock.lost.reason, { code: 'CONFLICT', message: /stolen: somebody else has it/ });
  await lock.release();
  t.equal((await readHolder(bucket, 'stolen'))?.owner, 'thief', 'only the owner releases');
  t.equal(text((await bucket.get('run.stolen'))?.value), 'mine');
});

t.test('a renewal that is refused ends the holding', async (t) => {
  const lock = await take(t, bucket, 'refused', { ttlMs: 3_000 });
  await bucket.put('lock.refused', bytes('{"owner":"thief"}'));
  await untilAborted(lock.lost);
  // At the end of its time it would say that nobody answered.
  t.match(lock.lost.reason, { code: 'CONFLICT', message: /refused: somebody else has it/ });
});

t.test('renewals and fenced writes do not get into each other', async (t) => {
  const heard = await listen(t, bucket, 'lock.busy');
  const lock = await take(t, bucket, 'busy', { ttlMs: 3_000 });
  const first = lock.token();
  const renewals = (): number => heard.changes.filter(({ entry }) => (entry?.revision ?? 0) > first).length;
  const writer = async (lane: number): Promise<number> => {
    let written = 0;
    for (; renewals() < 2; written += 1) await lock.fencedPut(`run.busy-${lane}`, bytes(`${written}`));
    return written;
  };
  const written = await Promise.all([writer(1), writer(2), writer(3), writer(4)]);
  t.ok(Math.min(...written) > 2, `${written.join(', ')} writes during two renewals`);
  t.ok(lock.token() > first + written.length);
  t.notOk(lock.lost.aborted);
});

for (const what of ['request', 'answer'] as const) {
  t.test(`when every third ${what} is lost, the lock and its writes are not`, async (t) => {
    let asked = 0;
    const loses = (subject: string): boolean => subject.startsWith('$KV.') && (asked += 1) % 3 === 0;
    const flaky = openBucket(deafen(connection, { [what]: loses }), 'cluster');
    const lock = await take(t, flaky, `flaky-${what}`, { ttlMs: 2_000 });
    for (let index = 0; index < 40; index += 1) await lock.fencedPut(`run.flaky-${what}`, bytes(`${index}`));
    t.equal(text((await bucket.get(`run.flaky-${what}`))?.value), '39');
    t.notOk(lock.lost.aborted);
    t.ok(asked > 40, `${asked} writes were sent`);
  });
}

t.test('a holder that gets no answer gives up before its time is over', async (t) => {
  const ttlMs = 4_000;
  const lock = await take(t, bucket, 'alone', { ttlMs });
  const began = performance.now();
  server.signal('SIGSTOP');
  t.teardown(() => server.signal('SIGCONT'));
  await untilAborted(lock.lost);
  const tookMs = performance.now() - began;
  server.signal('SIGCONT');
  t.ok(tookMs < ttlMs, `gave up after ${Math.round(tookMs)} ms`);
  await t.rejects(lock.fencedPut('run.alone', bytes('x')), { code: 'CONFLICT' });
});

t.test('withLock releases, also when its user throws', async (t) => {
  const options = { ttlMs: 30_000, owner: 'me' };
  t.equal(await withLock(bucket, 'with', options, async () => 7), 7);
  t.equal(await readHolder(bucket, 'with'), undefined);
  await t.rejects(
    withLock(bucket, 'with', options, async () => {
      t.equal((await readHolder(bucket, 'with'))?.owner, 'me');
      throw new Error('broken');
    }),
    { message: 'broken' },
  );
  t.equal(await readHolder(bucket, 'with'), undefined);
  await withLock(bucket, 'with', options, async () => {
    const second = withLock(bucket, 'with', options, async () => t.fail('both'));
    await t.rejects(second, { code: 'CONFLICT', message: 'with is locked by me' });
  });
});

t.test('a released lock is no lock', async (t) => {
  const lock = await take(t, bucket, 'over', { ttlMs: 5_000 });
  await lock.release();
  await lock.release();
  t.throws(() => lock.token(), new Failure('CONFLICT', 'the lock over was released'));
  await t.rejects(lock.fencedPut('run.over', bytes('x')), { code: 'CONFLICT' });
  t.notOk(lock.lost.aborted);
});

t.test('locks outlive the server: who lives keeps it, who died loses it in time', async (t) => {
  const heard = await listen(t, bucket, 'lock.*');
  const kept = await take(t, bucket, 'kept', { ttlMs: 10_000 });
  const dead = await take(t, withoutRenewals(bucket, 'left'), 'left', { ttlMs: 3_000 });
  const taken = await heard.until(({ key, entry }) => key === 'lock.left' && entry !== undefined);
  await server.kill('SIGKILL');
  await server.start();
  const gone = await heard.until(({ key, entry }) => key === 'lock.left' && !entry);
  const lastedMs = Date.now() - (taken.entry?.storedAt ?? 0);
  t.ok(lastedMs >= 2_900 && lastedMs < 5_500, `${gone.reason} after ${lastedMs} ms`);
  t.ok(dead.lost.aborted);
  await kept.fencedPut('run.kept', bytes('still'));
  t.equal(text((await bucket.get('run.kept'))?.value), 'still');
  t.notOk(kept.lost.aborted);
});

async function take(
  t: Teardown,
  from: Bucket,
  name: string,
  options: { ttlMs?: number; now?: () => number } = {},
): Promise<Lock> {
  const lock = await acquireLock(from, name, { ttlMs: 10_000, owner: 'test', ...options });
  if (!lock) throw new Error(`the lock ${name} is taken`);
  t.teardown(() => lock.release());
  return lock;
}

/** The bucket of a process that is gone as far as its renewals go. */
function withoutRenewals(real: Bucket, name: string): Bucket {
  return {
    ...real,
    put: (key, ...rest) =>
      key === `lock.${name}`
        ? Promise.reject(new Failure('TIMEOUT', 'held back by the test'))
        : real.put(key, ...rest),
  };
}
