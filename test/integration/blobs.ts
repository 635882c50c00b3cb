/** Outcomes that are larger than a message: stored in pieces, read back as if they were not, and gone with their run. */
import t from 'tap';
import { createClient } from '../../src/client/client.ts';
import type { TaskOutcome } from '../../src/client/results.ts';
import type { Outcome, TaskSpec } from '../../src/domain/task.ts';
import { createBlobStore, readBlob } from '../../src/nats/blobs.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createLedgerWriter } from '../../src/nats/ledger-writer.ts';
import { createStoreOutcome } from '../../src/nats/outcomes.ts';
import { quietLog } from '../kit/nats-server.ts';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';
import { acceptOne } from '../kit/accept-one.ts';

const cluster = await startSmallCluster(t);
const { call, connection, names } = cluster;
const reader = createLedgerReader(connection, names);
const writer = createLedgerWriter(connection, {
  names,
  durability: 'interval',
  batchMax: 500,
  ackTimeoutMs: 5_000,
  log: quietLog,
});
t.teardown(() => writer.close());
const blobs = createBlobStore(connection, names);
t.teardown(() => blobs.close());

async function accept(run: string, key: string): Promise<{ spec: TaskSpec; seq: number }> {
  const spec: TaskSpec = { id: `id-${key}`, run, scraper: 'gate', key, priority: 0, createdAt: 1 };
  const accepted = await acceptOne(writer, { state: 'queued', spec, at: 1, faults: [] });
  if (accepted.kind !== 'stored') throw new Error('not accepted');
  return { spec, seq: accepted.seq };
}

const done = (spec: TaskSpec, items: unknown[], data?: unknown): Outcome => ({
  state: 'done',
  spec,
  at: 2,
  faults: [],
  worker: 'w',
  startedAt: 1,
  result: { items, pages: 1, bytes: 5, ...(data !== undefined && { data }) },
});

const piecesOf = async (run: string): Promise<string[]> => {
  const subjects_filter = names.blob({ run, id: '*' }, '*', '*');
  const { state } = await connection.jsm.streams.info(names.stream('BLOBS'), { subjects_filter });
  return Object.keys(state.subjects ?? {});
};
const large = (letter: string, megabytes: number): unknown[] =>
  Array.from({ length: megabytes }, () => ({ text: letter.repeat(1024 * 1024) }));

t.test('pieces and back; what was changed or lost is told', async (t) => {
  const owner = { run: 'raw', id: 'x' };
  const bytes = Buffer.from(Array.from({ length: 1_500_000 }, (_, n) => n % 251));
  const ref = await blobs.put(owner, bytes);
  t.equal(ref.chunks, 3);
  t.ok(Buffer.from(await readBlob(connection, names, { owner, ref })).equals(bytes));
  const other = await blobs.put(owner, Buffer.from('other'));
  await blobs.removeOthers(owner, other.upload);
  await t.rejects(readBlob(connection, names, { owner, ref }), { code: 'INVALID' });
  await blobs.remove(owner, other.upload);
  t.same(await piecesOf('raw'), []);
});

t.test('one outcome counts: what comes too late harms nothing and leaves nothing', async (t) => {
  const store = createStoreOutcome({
    writer,
    blobs,
    maxPayload: () => connection.nc.info?.max_payload ?? 0,
    log: quietLog,
  });
  const { spec, seq } = await accept('late', 'a');
  // A worker that died before its outcome was stored left these.
  await blobs.put(spec, Buffer.from('left behind'));
  t.match(await store(done(spec, large('a', 3), { more: true }), seq), { kind: 'stored' });
  await untilSo(
    () => piecesOf('late'),
    (pieces) => pieces.length === 7,
  );
  t.match(await store(done(spec, large('b', 2)), seq), { kind: 'refused' });
  await untilSo(
    () => piecesOf('late'),
    (pieces) => pieces.length === 7,
  );
  const stored = await reader.read('late', spec.id);
  t.match(stored?.record, { state: 'done', result: { items: [], blob: { items: 3 } } });
  t.match(await reader.counts('late'), { done: 1, items: 3 });
});

t.test('more than 64 MiB, or a store that does not take it', async (t) => {
  const parts = { writer, maxPayload: () => connection.nc.info?.max_payload ?? 0, log: quietLog };
  const unused = createStoreOutcome({ ...parts, blobs });
  const huge = await accept('huge', 'h');
  t.match(await unused(done(huge.spec, [new Uint8Array(64 * 1024 * 1024)]), huge.seq), { kind: 'stored' });
  t.match((await reader.read('huge', huge.spec.id))?.record, {
    state: 'dead',
    error: { code: 'TOO_BIG', message: /at most 67108864/ },
  });
  t.same(await piecesOf('huge'), []);
  await connection.jsm.streams.update('BLOBS', { max_bytes: 1_000_000 });
  const full = await accept('full', 'f');
  t.match(await unused(done(full.spec, large('f', 2)), full.seq), { kind: 'failed' }, 'to be tried again');
  await connection.jsm.streams.update('BLOBS', { max_bytes: 1_000_000_000 });
  t.match(await unused(done(full.spec, large('f', 2)), full.seq), { kind: 'stored' });
  t.match((await reader.read('full', full.spec.id))?.record.state, 'done');
});

t.test('a scraper emits megabytes: results have them, and the run takes them along', async (t) => {
  await cluster.start('coordinator', 'c1');
  await cluster.start('worker', 'w1');
  await cluster.submitAll('big', [{ key: 'one', input: { megabytes: 5 } }, { key: 'two' }]);
  const client = createClient(await cluster.server.connect('client'), { names, durability: 'always' });
  t.teardown(() => client.close());
  const outcomes: TaskOutcome[] = [];
  for await (const outcome of client.results('big', { timeoutMs: 20_000 })) outcomes.push(outcome);
  const [one, two] = outcomes.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1));
  t.equal((one?.items[0] as { text: string }).text.length, 5 * 1024 * 1024);
  t.same(two?.items, [{ n: 1 }]);
  t.match(await call('stats', { run: 'big' }), { done: 2, items: 2 });
  t.match(await call('why', { run: 'big', id: one?.id ?? '' }), {
    explanation: [/stored 1 items/],
  });
  t.ok((await piecesOf('big')).length > 0);
  await call('run.remove', { run: 'big' });
  t.same(await piecesOf('big'), []);
});
