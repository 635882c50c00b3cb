/** What sinks decide and write, without a cluster. */
import t from 'tap';
import { existsSync, readdirSync, readFileSync, appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readItem } from '../../src/domain/item.ts';
import { Failure } from '../../src/domain/failure.ts';
import { AT_THE_START, type FileSink } from '../../src/domain/sink.ts';
import { inBatches } from '../../src/sinks/batches.ts';
import { createFileTarget } from '../../src/sinks/file-target.ts';
import { writeHalving } from '../../src/sinks/halving.ts';
import { createCsvLines, createNdjsonLines } from '../../src/sinks/lines.ts';
import { createAsideFile } from '../../src/sinks/put-aside.ts';
import { decideRotation } from '../../src/sinks/rotation.ts';
import { chunksOf, rowsOf, type SinkRow } from '../../src/sinks/row.ts';
import { keyOf, sign } from '../../src/sinks/webhook-target.ts';
import { temporaryFolder } from '../kit/nats-server.ts';
import { parseCsv } from '../kit/parse-csv.ts';
import { recordOf } from '../kit/stub-coordinator.ts';

const BEGINNING = { life: { ledger: 'l1', sink: 's1' }, replayed: undefined };
const CONTEXT = { signal: new AbortController().signal, life: 's1', replayed: undefined };

function rowOf(seq: number, item: unknown, n = 0): SinkRow {
  const json = JSON.stringify(item);
  return { seq, run: 'r', task: `t${seq}`, n, scraper: 's', at: '2026-01-01T00:00:00.000Z', item, json };
}

t.test('an item of a kind is one that says nothing else', async (t) => {
  t.same(readItem({ kind: 'a', data: 1 }), { kind: 'a', data: 1 });
  for (const plain of [{ kind: 'a' }, { kind: 1, data: 1 }, { kind: 'a', data: 1, more: 1 }, [1], null, 'a'])
    t.same(readItem(plain), { data: plain });
});

t.test('rows: numbered as they were emitted, filtered by kind', async (t) => {
  const items = [{ kind: 'a', data: { x: 1 } }, 5, { kind: 'b', data: null }];
  const record = recordOf('id', 'run', { items });
  if (record.state !== 'done') throw new Error('not done');
  t.same(
    rowsOf(7, record).rows.map(({ seq, n, kind, json }) => [seq, n, kind, json]),
    [
      [7, 0, 'a', '{"x":1}'],
      [7, 1, undefined, '5'],
      [7, 2, 'b', 'null'],
    ],
  );
  t.same(
    rowsOf(7, record, ['b']).rows.map(({ n }) => n),
    [2],
  );
  const rows = [1, 2, 3, 4, 5].map((seq) => rowOf(seq, 'x'.repeat(10)));
  t.same(
    chunksOf(rows, { rows: 2, bytes: 1_000 }).map((chunk) => chunk.length),
    [2, 2, 1],
  );
  t.same(
    chunksOf(rows, { rows: 100, bytes: 5 }).map((chunk) => chunk.length),
    [1, 1, 1, 1, 1],
    'a row beyond the limit has a chunk of its own',
  );
});

t.test('rotation', async (t) => {
  const limits = { rotateBytes: 100, rotateMs: 1_000 };
  t.equal(decideRotation({ bytes: 0, openedAt: 0, now: 9_999 }, limits), undefined);
  t.equal(decideRotation({ bytes: 99, openedAt: 0, now: 999 }, limits), undefined);
  t.equal(decideRotation({ bytes: 100, openedAt: 0, now: 0 }, limits), 'size');
  t.equal(decideRotation({ bytes: 1, openedAt: 0, now: 1_000 }, limits), 'age');
  t.equal(decideRotation({ bytes: 1, openedAt: 0, now: 1e12 }, { rotateBytes: 100 }), undefined);
});

t.test('lines', async (t) => {
  t.same(JSON.parse(createNdjsonLines().line(rowOf(1, { a: 1 })) ?? ''), {
    ...{ run: 'r', task: 't1', n: 0, scraper: 's', at: '2026-01-01T00:00:00.000Z' },
    item: { a: 1 },
  });
  const csv = createCsvLines({});
  const first = rowOf(1, { a: 1, b: 'x,y' });
  t.equal(csv.begin(first), '_run,_task,_n,_kind,_scraper,_url,_at,a,b\r\n');
  t.equal(csv.line(first), 'r,t1,0,,s,,2026-01-01T00:00:00.000Z,1,"x,y"\r\n');
  t.equal(csv.line(rowOf(2, { c: 1 })), undefined, 'a new field needs a new header');
  csv.begin(rowOf(2, { c: 1 }));
  t.same(csv.columns(), ['a', 'b', 'c']);
  t.match(
    createCsvLines({ columns: csv.columns() }).line(rowOf(3, { c: 1 })),
    /Z,,,1\r\n$/,
    'a later process goes on',
  );
  const chosen = createCsvLines({ chosen: ['b'] });
  t.match(chosen.line(rowOf(1, { a: 1, b: 2 })), /Z,2\r\n$/);
  const many = createCsvLines({});
  const fields = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, i]));
  many.begin(rowOf(1, fields));
  t.equal(many.columns().length, 257);
  t.match(many.line(rowOf(1, fields)), /,255,"\{""f256"":256,/, 'the rest is in one column');
  t.match(many.line(rowOf(1, { other: 1 })), /"\{""other"":1\}"\r\n$/);
});

t.test('halving finds each row that is refused, and writes all the others once', async (t) => {
  const rows = Array.from({ length: 37 }, (_, i) => rowOf(i + 1, i));
  const bad = new Set([3, 4, 20, 37]);
  const written: number[] = [];
  const rejected = await writeHalving(rows, async (some) => {
    if (some.some(({ seq }) => bad.has(seq))) throw new Failure('REJECTED', 'no');
    written.push(...some.map(({ seq }) => seq));
  });
  t.same(
    rejected.map(({ seq }) => seq),
    [...bad],
  );
  t.same(
    written,
    rows.map(({ seq }) => seq).filter((seq) => !bad.has(seq)),
  );
  await t.rejects(
    writeHalving(rows, async () => {
      throw new Failure('UNAVAILABLE', 'away');
    }),
    { code: 'UNAVAILABLE' },
  );
});

t.test('what is put aside is put aside once, also after a crash in the middle of a line', async (t) => {
  const path = join(temporaryFolder(t), 'x.rejected.ndjson');
  const of = (seq: number, n: number) => ({ seq, n, row: rowOf(seq, 'x'.repeat(100_000), n), problem: 'no' });
  await createAsideFile(path).add([of(1, 0), of(1, 1)], 's1');
  appendFileSync(path, '{"seq":2,"n":0,"pro');
  await createAsideFile(path).add([of(1, 1), of(2, 0), of(3, 0)], 's1');
  await createAsideFile(path).add([of(2, 0)], 's2');
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  t.same(
    lines.map((line) => (JSON.parse(line) as { seq: number }).seq),
    [1, 1, 2, 3, 2],
    'in another life the same sequence is something else',
  );
});

t.test('batches: by number, by size, by time, and one that must be as it was', async (t) => {
  async function* source(seqs: readonly number[], bytes = 1): AsyncGenerator<{ seq: number; bytes: number }> {
    for (const seq of seqs) yield { seq, bytes };
  }
  const sizes = async (...args: Parameters<typeof inBatches>): Promise<number[][]> => {
    const found: number[][] = [];
    for await (const batch of inBatches(...args)) found.push(batch.map(({ seq }) => seq));
    return found;
  };
  const limits = { entries: 2, bytes: 100, lingerMs: 1_000 };
  t.same(await sizes(source([1, 2, 3, 4, 5]), limits), [[1, 2], [3, 4], [5]]);
  t.same(await sizes(source([1, 2, 3], 100), limits), [[1], [2], [3]]);
  t.same(await sizes(source([1, 2, 3, 5, 6]), limits, { through: 3, patienceMs: 1_000 }), [
    [1, 2, 3],
    [5, 6],
  ]);
  t.same(await sizes(source([1, 2, 5, 6]), limits, { through: 3, patienceMs: 1_000 }), [
    [1, 2],
    [5, 6],
  ]);
  t.same(await sizes(source([5, 6]), limits, { through: 3, patienceMs: 1_000 }), [[5, 6]]);
  t.same(await sizes(source([]), limits), []);
  async function* failing(): AsyncGenerator<{ seq: number; bytes: number }> {
    yield { seq: 1, bytes: 1 };
    throw new Failure('UNAVAILABLE', 'gone');
  }
  await t.rejects(sizes(failing(), { ...limits, entries: 1 }), { code: 'UNAVAILABLE' });
});

t.test('the key of a batch and its signature', async (t) => {
  t.equal(keyOf('s', [rowOf(3, 1), rowOf(9, 1, 4)], CONTEXT), 's:s1:3.0-9.4');
  t.equal(keyOf('s', [rowOf(3, 1)], { life: 's1', replayed: 'ab12' }), 's:s1:ab12:3.0-3.0');
  t.equal(
    sign('geheim', '1700000000', '{}'),
    'v1=75e8aa01e776401a6bfda6664664c1271ca25506052e3b8c43308bdf92f3c8d5',
  );
});

for (const gzip of [false, true]) {
  t.test(
    `files${gzip ? ', with gzip' : ''}: what is not committed is undone, what is taken away stays away`,
    async (t) => {
      const path = join(temporaryFolder(t), 'out');
      const spec: FileSink & { name: string } = {
        name: 'x',
        type: 'csv',
        path,
        gzip,
        rotateBytes: 1_000_000,
      };
      const ending = gzip ? 'csv.gz' : 'csv';
      const textOf = (file: number): string => {
        const bytes = readFileSync(join(path, `x-00000${file}.${ending}`));
        return (gzip ? gunzipSync(bytes) : bytes).toString();
      };
      const one = createFileTarget(spec);
      t.match(await one.open(BEGINNING), { reason: 'goes-on', checkpoint: AT_THE_START });
      await one.write([rowOf(1, { a: 1 }), rowOf(2, { a: 2 })], CONTEXT);
      await one.commit({ life: BEGINNING.life, seq: 2, items: 2, rejected: 0 });
      await one.write([rowOf(3, { a: 3 }), rowOf(4, { b: 4 })], CONTEXT);
      await one.close(); // without a commit, as a crash would
      t.ok(existsSync(join(path, `x-000002.${ending}`)));

      const two = createFileTarget(spec);
      t.match(await two.open(BEGINNING), { reason: 'goes-on', checkpoint: { seq: 2, items: 2 } });
      t.notOk(existsSync(join(path, `x-000002.${ending}`)), 'a file that is not in the position is removed');
      await two.write([rowOf(3, { a: 3 })], CONTEXT);
      await two.commit({ life: BEGINNING.life, seq: 3, items: 3, rejected: 0 });
      await two.close();
      t.same(
        parseCsv(textOf(1)).map((row) => row['a']),
        ['1', '2', '3'],
      );

      rmSync(join(path, `x-000001.${ending}`));
      const three = createFileTarget(spec);
      await three.open(BEGINNING);
      await three.write([rowOf(4, { a: 4 })], CONTEXT);
      await three.commit({ life: BEGINNING.life, seq: 4, items: 4, rejected: 0 });
      await three.close();
      t.same(
        parseCsv(textOf(2)).map((row) => row['a']),
        ['4'],
        'somebody took the file: the next one begins',
      );

      rmSync(join(path, 'x.position.json'));
      await t.rejects(createFileTarget(spec).open(BEGINNING), {
        code: 'INVALID',
        message: /has files of x, but not/,
      });
      writeFileSync(join(path, 'x.position.json'), '{}');
      await t.rejects(createFileTarget(spec).open(BEGINNING), {
        code: 'INVALID',
        message: /is not the position of a sink/,
      });
    },
  );
}

t.test('files are followed by the next at a size and at an age', async (t) => {
  const path = temporaryFolder(t);
  let now = 0;
  const spec: FileSink & { name: string } = {
    name: 'x',
    type: 'ndjson',
    path,
    gzip: false,
    rotateBytes: 300,
    rotateMs: 1_000,
  };
  const target = createFileTarget(spec, () => now);
  await target.open(BEGINNING);
  await target.write(
    Array.from({ length: 10 }, (_, i) => rowOf(i + 1, 'y')),
    CONTEXT,
  );
  const files = (): string[] => readdirSync(path).filter((file) => file.endsWith('.ndjson'));
  const bySize = files().length;
  t.ok(bySize >= 3);
  now = 5_000;
  await target.write([rowOf(11, 'y')], CONTEXT);
  t.equal(files().length, bySize + 1);
  await target.close();
});

t.test('files of several ledgers: each goes on where it was, and nothing that is there is cut', async (t) => {
  const path = temporaryFolder(t);
  const spec = { name: 'x', type: 'csv', path, gzip: false, rotateBytes: 1_000_000 } as const;
  const beginning = (ledger: string, sink: string) => ({ life: { ledger, sink }, replayed: undefined });
  const deliver = async (start: ReturnType<typeof beginning>, count: number): Promise<unknown[]> => {
    const target = createFileTarget(spec);
    const begun = await target.open(start);
    const seq = begun?.checkpoint.seq ?? 0;
    const rows = Array.from({ length: count }, (_, i) =>
      rowOf(seq + i + 1, { a: `${start.life.ledger}.${seq + i + 1}` }),
    );
    if (count > 0) await target.write(rows, CONTEXT);
    if (count > 0) await target.commit({ life: start.life, seq: seq + count, items: 0, rejected: 0 });
    await target.close();
    return [begun?.reason, seq];
  };
  const files = (folder = path): string[][] =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.csv'))
      .sort()
      .map((file) => parseCsv(readFileSync(join(folder, file), 'utf8')).map((row) => row['a'] ?? ''));

  t.same(await deliver(beginning('A', '1'), 2), ['goes-on', 0]);
  t.same(await deliver(beginning('B', '2'), 0), ['new-ledger', 0]);
  t.same(await deliver(beginning('B', '2'), 1), ['goes-on', 0], 'it came no further than its new position');
  t.same(await deliver(beginning('A', '1'), 1), ['known-ledger', 2]);
  t.same(files(), [['A.1', 'A.2'], ['B.1'], ['A.3']]);
  t.same(await deliver(beginning('A', '3'), 3), ['forgotten', 0]);
  t.same(files(), [['A.1', 'A.2', 'A.3']]);
  t.same(files(join(path, 'x.before-3')), [['A.1', 'A.2'], ['B.1'], ['A.3']]);
  t.same(await deliver(beginning('B', '2'), 1), ['known-ledger', 1], 'only one of them was forgotten');

  const file = join(path, 'x.position.json');
  const written = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...written, life: undefined, earlier: undefined }));
  t.same(await deliver(beginning('B', '2'), 0), ['goes-on', 2], 'a position from before lives were written');
});
