import t from 'tap';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBucket } from '../../src/nats/bucket.ts';
import { createEgressStore, type StoreWrite } from '../../src/nats/egress-store.ts';
import { acquireLock, type Lock } from '../../src/nats/lock.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { projectRoot } from '../../src/project-root.ts';
import { bytes, text } from '../kit/cluster-bucket.ts';
import { startNatsServer } from '../kit/nats-server.ts';

const server = await startNatsServer(t);

async function open(name: string): Promise<Connection> {
  const connection = await server.connect(name);
  const definition = readFileSync(join(projectRoot, 'nats/buckets/egress.json'), 'utf8');
  await connection.jsm.streams.add(
    JSON.parse(definition) as Parameters<typeof connection.jsm.streams.add>[0],
  );
  return connection;
}

async function take(connection: Connection, ttlMs = 1_000): Promise<Lock> {
  const lock = await acquireLock(openBucket(connection, 'egress'), 'proxy-manager', { ttlMs, owner: 'test' });
  if (!lock) throw new Error('the lock is taken');
  t.teardown(() => lock.release());
  return lock;
}

const put = (key: string, value: string, ttlMs?: number): StoreWrite => ({
  kind: 'put',
  key,
  value: bytes(value),
  ttlMs,
});

t.test('ten thousand records are stored and loaded; removed ones are gone; time limits hold', async (t) => {
  const connection = await open('first');
  const lock = await take(connection, 2_000);
  t.teardown(() => lock.release());
  const store = createEgressStore(connection, { bucket: 'egress', lock });
  t.teardown(() => store.close());
  t.equal((await store.load()).size, 0);

  const began = performance.now();
  await store.commit(Array.from({ length: 10_000 }, (_, i) => put(`proxy.p${i}`, `{"i":${i}}`)));
  await store.commit([put('lease.a', 'short', 1_000), put('lease.b', 'long', 60_000)]);
  await store.commit([
    put('proxy.p1', 'once'),
    put('proxy.p1', 'twice'),
    { kind: 'remove', key: 'proxy.p0' },
  ]);
  const stored = performance.now();
  const found = await store.load();
  t.comment(
    `stored in ${Math.round(stored - began)} ms, loaded in ${Math.round(performance.now() - stored)} ms`,
  );
  t.equal(found.size, 10_001);
  t.equal(text(found.get('proxy.p1')), 'twice', 'the last write of a key counts');
  t.notOk(found.has('proxy.p0'));
  t.notOk([...found.keys()].some((key) => key.startsWith('lock.')));

  let resolve = (): void => undefined;
  const expired = new Promise<void>((done) => (resolve = done));
  const end = new AbortController();
  t.teardown(() => end.abort());
  await openBucket(connection, 'egress').watch(
    'lease.*',
    ({ key, reason }) => {
      if (key === 'lease.a' && reason === 'expired') resolve();
    },
    end.signal,
  );
  if (found.has('lease.a')) await expired;
  const later = await store.load();
  t.notOk(later.has('lease.a'));
  t.ok(later.has('lease.b'));
});

t.test('writes go on while the lock is renewed', async (t) => {
  const connection = await open('busy');
  const lock = await take(connection, 3_000);
  t.teardown(() => lock.release());
  const store = createEgressStore(connection, { bucket: 'egress', lock });
  t.teardown(() => store.close());
  const first = lock.token();
  let commits = 0;
  // Every second.
  while (lock.token() === first || commits < 500) {
    await store.commit([put('spent.x', String(commits)), put('spent.y', String(commits))]);
    commits += 1;
  }
  t.ok(lock.token() > first, 'it was renewed meanwhile');
  t.equal(text((await store.load()).get('spent.x')), String(commits - 1));
});

t.test('a deposed leader stores nothing', async (t) => {
  const old = await open('old');
  const oldLock = await take(old);
  // It believes in its lock although somebody else has it: the server is the one that must say no.
  const stale = oldLock.token();
  const store = createEgressStore(old, { bucket: 'egress', lock: { ...oldLock, token: () => stale } });
  t.teardown(() => store.close());
  await store.commit([put('spent.x', 'mine')]);
  await oldLock.release();

  const young = await open('young');
  const youngLock = await take(young);
  t.teardown(() => youngLock.release());
  const successor = createEgressStore(young, { bucket: 'egress', lock: youngLock });
  t.teardown(() => successor.close());
  await t.rejects(store.commit([put('spent.x', 'late')]), { code: 'CONFLICT' });
  await t.rejects(store.commit([put('spent.x', 'late'), put('spent.z', 'late')]), { code: 'CONFLICT' });
  const found = await successor.load();
  t.equal(text(found.get('spent.x')), 'mine');
  t.notOk(found.has('spent.z'), 'no part of a batch');
});

t.test('without an answer the outcome is unknown, and it says so', async (t) => {
  const connection = await open('cut');
  const lock = await take(connection, 5_000);
  const store = createEgressStore(connection, { bucket: 'egress', lock, answerMs: 300 });
  t.teardown(() => store.close());
  server.signal('SIGSTOP');
  try {
    await t.rejects(store.commit([put('spent.x', '1'), put('spent.y', '1')]), { code: 'TIMEOUT' });
  } finally {
    server.signal('SIGCONT');
  }
});
