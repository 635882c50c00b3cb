/** Whoever reads a stream for a while leaves nothing behind on the server, however the reading ends. */
import t from 'tap';
import { once } from 'node:events';
import { createClient } from '../../src/client/client.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { connectNats, type Connection } from '../../src/nats/connect.ts';
import { quietLog } from '../kit/nats-server.ts';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';
import { installTrawl } from '../kit/trawl.ts';

/** Before the server would remove, by itself, what nobody uses. */
const SOON_MS = 5_000;

const cluster = await startSmallCluster(t);
const { server, connection, names, call } = cluster;
await cluster.start('coordinator', 'c1');
const worker = await cluster.start('worker', 'w1');
await cluster.submitAll('ended', [{ key: 'a' }, { key: 'b' }, { key: 'c' }]);
const own = createClient(connection, { names, durability: 'interval' });
await own.waitFor('ended');
await call('run.create', { scraper: 'gate', run: 'open' });
await cluster.submit('open', 'a');
await cluster.submit('open', 'b');

async function count(): Promise<{ ledger: number; bucket: number }> {
  const [ledger, bucket] = await Promise.all(
    [names.stream('LEDGER'), `KV_${names.bucket('cluster')}`].map(
      async (stream) => (await connection.jsm.streams.info(stream)).state.consumer_count,
    ),
  );
  return { ledger: ledger ?? -1, bucket: bucket ?? -1 };
}

const before = await untilSo(count, ({ ledger }) => ledger === 0, SOON_MS);
const untilNothingIsLeft = (): Promise<unknown> =>
  untilSo(count, (now) => now.ledger === before.ledger && now.bucket === before.bucket, SOON_MS);

/** A connection of a reader's own, which may be closed. */
async function connect(): Promise<Connection> {
  return connectNats({
    access: { url: [server.url] },
    name: 'reader',
    log: quietLog,
    whenUnreachable: 'fail',
  });
}

t.test('results: read to the end, broken off, out of time', async (t) => {
  const read: string[] = [];
  for await (const { key } of own.results('ended')) read.push(key ?? '');
  t.same(read.sort(), ['a', 'b', 'c']);
  await untilNothingIsLeft();

  for await (const { key } of own.results('open')) if (key !== '') break;
  await untilNothingIsLeft();

  const late = async (): Promise<void> => {
    for await (const each of own.results('open', { timeoutMs: 300 })) t.ok(each.key);
  };
  await t.rejects(late(), { code: 'TIMEOUT' });
  await untilNothingIsLeft();
});

t.test('results: the reader closes its connection in the middle', async () => {
  const reader = await connect();
  const results = createClient(reader, { names, durability: 'interval' }).results('open');
  await results.next();
  await reader.close();
  await untilNothingIsLeft();
});

t.test('a bucket: listed, and watched until some moment or other', async (t) => {
  const bucket = openBucket(connection, names.bucket('cluster'));
  t.ok((await bucket.list('beat.>')).length >= 2);
  await untilNothingIsLeft();
  for (let turns = 0; turns < 12; turns += 1) {
    const enough = new AbortController();
    const told = bucket.watch('beat.>', () => undefined, enough.signal);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    if (turns % 3 === 2) await new Promise((resolve) => setImmediate(resolve));
    enough.abort();
    await told;
  }
  await untilNothingIsLeft();
});

t.test('a bucket: watched by somebody whose connection closes', async () => {
  const reader = await connect();
  const end = new AbortController();
  await openBucket(reader, names.bucket('cluster')).watch('run.*', () => undefined, end.signal);
  await reader.close();
  await untilNothingIsLeft();
});

t.test('a command: one that ends, and one that is interrupted', async (t) => {
  const trawl = await installTrawl(t, { NATS_URL: server.url });
  const [results, status] = await Promise.all([trawl.run('results', 'ended'), trawl.run('status')]);
  t.equal(results.code, 0, results.stderr);
  t.equal(status.code, 0, status.stderr);
  await untilNothingIsLeft();

  const following = trawl.start('results', 'open', '--follow');
  const gone = once(following, 'exit');
  await untilSo(count, ({ ledger }) => ledger > before.ledger);
  following.kill('SIGINT');
  t.same(await gone, [130, null]);
  await untilNothingIsLeft();

  const piped = trawl.start('results', 'open', '--follow');
  const left = once(piped, 'exit');
  await once(piped.stdout ?? piped, 'data');
  piped.stdout?.destroy();
  await cluster.submit('open', 'after the reader went');
  t.same(await left, [0, null]);
  await untilNothingIsLeft();
});

t.test('a worker that ends', async (t) => {
  worker.quiet();
  await worker.done;
  const after = await untilSo(count, ({ bucket }) => bucket < before.bucket, SOON_MS);
  t.equal(after.ledger, before.ledger);
  // Of the coordinator alone: what it watches does not depend on who else is there.
  const again = await cluster.start('worker', 'w2');
  await untilSo(count, ({ bucket }) => bucket === before.bucket, SOON_MS);
  again.abort();
  await again.done.catch(() => undefined);
  await untilSo(count, ({ bucket }) => bucket === after.bucket, SOON_MS);
});
