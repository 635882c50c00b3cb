/** The bucket adapter on a real server: compare-and-set, time limits, markers, fences, watching through outages. */
import t from 'tap';
import { Failure } from '../../src/domain/failure.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { deafen } from '../kit/deafen.ts';
import { bytes, listen, openClusterBucket, text } from '../kit/cluster-bucket.ts';
import { startNatsServer } from '../kit/nats-server.ts';

const server = await startNatsServer(t);
const { bucket, connection } = await openClusterBucket(server);

t.test('what was put can be read, listed and removed', async (t) => {
  const first = await bucket.put('run.a', bytes('one'));
  const second = await bucket.put('run.b', bytes('two'));
  t.ok(second > first, 'revisions rise');
  const entry = await bucket.get('run.a');
  t.equal(text(entry?.value), 'one');
  t.equal(entry?.revision, first);
  t.ok(Math.abs((entry?.storedAt ?? 0) - Date.now()) < 5_000, 'stored now, in epoch milliseconds');
  t.equal(await bucket.get('run.c'), undefined);
  t.same(
    (await bucket.list('run.>')).map(({ key, value, revision }) => [key, text(value), revision]),
    [
      ['run.a', 'one', first],
      ['run.b', 'two', second],
    ],
  );
  t.same(await bucket.list('nothing.>'), []);

  await bucket.purge('run.a', { expect: first, markerTtlMs: 60_000 });
  t.equal(await bucket.get('run.a'), undefined);
  t.same(
    (await bucket.list('run.>')).map(({ key }) => key),
    ['run.b'],
  );
});

t.test('a condition that does not hold is a conflict, and changes nothing', async (t) => {
  const revision = await bucket.put('run.cas', bytes('one'));
  const next = await bucket.put('run.cas', bytes('two'), { expect: revision });
  await t.rejects(bucket.put('run.cas', bytes('three'), { expect: revision }), { code: 'CONFLICT' });
  await t.rejects(bucket.create('run.cas', bytes('three')), { code: 'CONFLICT' });
  await t.rejects(bucket.purge('run.cas', { expect: revision, markerTtlMs: 1_000 }), { code: 'CONFLICT' });
  const entry = await bucket.get('run.cas');
  t.same([text(entry?.value), entry?.revision], ['two', next]);
});

t.test('create goes over the marker of what was removed or has expired', async (t) => {
  const heard = await listen(t, bucket, 'run.marked');
  const first = await bucket.create('run.marked', bytes('one'));
  await bucket.purge('run.marked', { expect: first, markerTtlMs: 60_000 });
  const second = await bucket.create('run.marked', bytes('two'), { ttlMs: 1_000 });
  await heard.until(({ reason }) => reason === 'expired');
  t.equal(await bucket.get('run.marked'), undefined, 'expired');
  const third = await bucket.create('run.marked', bytes('three'));
  t.ok(first < second && second < third, 'revisions never come again');
  await heard.until(({ entry }) => entry?.revision === third);
  t.same(
    heard.changes.map(({ reason, entry }) => [reason, text(entry?.value)]),
    [
      ['put', 'one'],
      ['deleted', undefined],
      ['put', 'two'],
      ['expired', undefined],
      ['put', 'three'],
    ],
  );
});

t.test('time limits are rounded up to what the server can count', async (t) => {
  const heard = await listen(t, bucket, 'run.short');
  await bucket.put('run.short', bytes('x'), { ttlMs: 10 });
  const stored = await heard.until(({ entry }) => entry !== undefined);
  const gone = performance.now();
  await heard.until(({ reason }) => reason === 'expired');
  t.ok(performance.now() - gone > 800, 'a second at least');
  t.ok(stored.entry);
});

t.test('a fenced write counts only while the fence stands', async (t) => {
  const lock = await bucket.put('lock.fence', bytes('A'));
  await bucket.put('run.fenced', bytes('by A'), { fence: { key: 'lock.fence', revision: lock } });
  const next = await bucket.put('lock.fence', bytes('B'), { expect: lock });
  await t.rejects(bucket.put('run.fenced', bytes('late'), { fence: { key: 'lock.fence', revision: lock } }), {
    code: 'CONFLICT',
    message: /lock\.fence/,
  });
  await bucket.purge('lock.fence', { expect: next, markerTtlMs: 1_000 });
  await t.rejects(
    bucket.put('run.fenced', bytes('late'), { fence: { key: 'lock.fence', revision: next } }),
    { code: 'CONFLICT' },
    'also when nobody holds it',
  );
  t.equal(text((await bucket.get('run.fenced'))?.value), 'by A');
});

t.test('wrong keys and missing buckets are told in words', async (t) => {
  await t.rejects(bucket.get('run.*'), { code: 'INVALID' });
  await t.rejects(bucket.put('run..a', bytes('x')), { code: 'INVALID' });
  const nowhere = openBucket(connection, 'nowhere');
  await t.rejects(nowhere.put('a', bytes('x'), { limitMs: 300 }), {
    code: 'UNAVAILABLE',
    hint: /KV_nowhere/,
  });
});

t.test('an answer that is lost does not make a write fail, or happen twice', async (t) => {
  const heard = await listen(t, bucket, 'run.lost-answer');
  const revision = await bucket.create('run.lost-answer', bytes('one'));
  const deaf = openBucket(deafen(connection, { answer: onceFor('run.lost-answer') }), 'cluster');
  const next = await deaf.put('run.lost-answer', bytes('two'), { expect: revision, limitMs: 3_000 });
  t.same(text((await bucket.get('run.lost-answer'))?.value), 'two');
  await heard.until(({ entry }) => entry?.revision === next);
  t.equal(heard.changes.length, 2, 'stored once');
  await t.rejects(bucket.put('run.lost-answer', bytes('x'), { expect: revision }), { code: 'CONFLICT' });
});

t.test('an answer that is lost, and somebody else came after: a conflict', async (t) => {
  const revision = await bucket.create('run.overtaken', bytes('one'));
  const answer = onceFor('run.overtaken', () => bucket.put('run.overtaken', bytes('theirs')));
  const deaf = openBucket(deafen(connection, { answer }), 'cluster');
  await t.rejects(deaf.put('run.overtaken', bytes('ours'), { expect: revision, limitMs: 3_000 }), {
    code: 'CONFLICT',
  });
  t.equal(text((await bucket.get('run.overtaken'))?.value), 'theirs');
});

t.test('a watch tells what was missed during an outage, once', async (t) => {
  const { bucket: away } = await openClusterBucket(server, 'away');
  await bucket.put('run.kept', bytes('same'));
  const doomed = await bucket.put('run.doomed', bytes('x'), { ttlMs: 1_000 });
  const purged = await bucket.put('run.purged', bytes('x'));
  const heard = await listen(t, away, 'run.*');
  const before = heard.changes.length;
  t.ok(heard.changes.some(({ entry }) => entry?.revision === doomed));

  await server.kill('SIGKILL');
  await server.start();
  // The first connection is back as soon as this is answered; the marker's life is shorter than some reconnects.
  await bucket.purge('run.purged', { expect: purged, markerTtlMs: 1_000, limitMs: 10_000 });
  const fresh = await bucket.put('run.fresh', bytes('y'), { limitMs: 10_000 });

  await heard.until(({ key, entry }) => key === 'run.doomed' && !entry);
  await heard.until(({ key, entry }) => key === 'run.purged' && !entry);
  await heard.until(({ entry }) => entry?.revision === fresh);
  const after = heard.changes.slice(before).map(({ key, entry }) => `${key} ${entry ? 'put' : 'gone'}`);
  t.same(after.sort(), ['run.doomed gone', 'run.fresh put', 'run.purged gone']);
});

t.test('a key that went without a trace is noticed', async (t) => {
  const { bucket: away, connection: cut } = await openClusterBucket(server, 'away');
  const heard = await listen(t, away, 'run.traceless');
  await bucket.put('run.traceless', bytes('x'));
  await heard.until(({ entry }) => entry !== undefined);
  // Removed while nobody follows, without any marker.
  const down = new Promise<void>((resolve) => {
    const forget = cut.onChange((up) => {
      if (up) return;
      forget();
      resolve();
    });
  });
  void cut.nc.reconnect();
  await down;
  await connection.jsm.streams.purge('KV_cluster', { filter: '$KV.cluster.run.traceless' });
  const gone = await heard.until(({ entry }) => !entry);
  t.ok(gone.reason === 'missed' || gone.reason === 'deleted');
});

t.test('without a server a write and a read give up in time', async (t) => {
  await server.kill('SIGKILL');
  const began = performance.now();
  await t.rejects(bucket.put('run.down', bytes('x'), { limitMs: 500 }), Failure);
  t.ok(performance.now() - began < 3_000);
  await server.start();
  await bucket.put('run.down', bytes('x'), { limitMs: 10_000 });
  t.equal(text((await bucket.get('run.down'))?.value), 'x');
});

/** Loses the answer to the first write of the key, after something else has happened. */
function onceFor(key: string, meanwhile: () => Promise<unknown> = () => Promise.resolve()) {
  let left = 1;
  return async (subject: string): Promise<boolean> => {
    if (!subject.endsWith(key) || left === 0) return false;
    left -= 1;
    await meanwhile();
    return true;
  };
}
