/** Work that is held back: put aside once, and brought back within a second, whoever dies meanwhile. */
import t from 'tap';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';

interface Figures {
  readonly done: number;
  readonly deferred: number;
  readonly total: number;
}

const cluster = await startSmallCluster(t);
const { call, submit, connection, names } = cluster;
let coordinator = await cluster.start('coordinator', 'c1');
await cluster.start('worker', 'w1');
await cluster.start('worker', 'w2');

const stats = (run: string): Promise<Figures> => call('stats', { run });
const keysOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `k${n}`);
const seqOf = async (run: string, id: string): Promise<number> => {
  const place = { last_by_subj: names.parked({ run, id }) };
  return (await connection.jsm.streams.getMessage(names.stream('TASKS'), place))?.seq ?? 0;
};
const parkedOf = async (run: string): Promise<number> => {
  const subjects_filter = names.parked({ run, id: '*' });
  const { state } = await connection.jsm.streams.info(names.stream('TASKS'), { subjects_filter });
  return Object.keys(state.subjects ?? {}).length;
};

async function allDone(run: string, total: number): Promise<number> {
  const began = performance.now();
  await untilSo(
    () => stats(run),
    ({ done }) => done === total,
  );
  return performance.now() - began;
}

t.test('tasks of a paused scraper are put aside once, and come back at once', async (t) => {
  await call('pause', { kind: 'scraper', name: 'gate' });
  const ids = await Promise.all(keysOf(200).map((key) => submit('aside', key)));
  await untilSo(
    () => parkedOf('aside'),
    (parked) => parked === 200,
  );
  const [id = ''] = ids;
  const seq = await seqOf('aside', id);
  t.match(await stats('aside'), { total: 200, deferred: 200, done: 0 });
  const { where, explanation } = await call<{ where: string; explanation: string[] }>('why', {
    id,
    run: 'aside',
  });
  t.equal(where, 'deferred');
  t.same(explanation, ['It is held back: the scraper gate is paused.']);
  // Another flag comes and goes, and all that is put aside is looked at.
  await call('pause', { kind: 'scraper', name: 'noop' });
  await call('submit', { scraper: 'noop', run: 'other', key: 'k' });
  await untilSo(
    () => parkedOf('other'),
    (parked) => parked === 1,
  );
  await call('resume', { kind: 'scraper', name: 'noop' });
  await allDone('other', 1);
  t.equal(await seqOf('aside', id), seq, 'it was written once');
  await call('resume', { kind: 'scraper', name: 'gate' });
  const tookMs = await allDone('aside', 200); // some hundred, unless the machine is busy
  t.ok(tookMs < 5_000, `${tookMs.toFixed(0)} ms`);
  t.equal(await parkedOf('aside'), 0);
});

t.test('two flags hold until both are gone', async (t) => {
  await call('run.create', { scraper: 'gate', run: 'twice' });
  await untilSo(
    () => call<{ state: string }>('run.show', { run: 'twice' }),
    ({ state }) => state === 'active',
  );
  await call('pause', { kind: 'scraper', name: 'gate' });
  await submit('twice', 'k');
  await submit('once', 'k');
  await untilSo(
    async () => (await parkedOf('twice')) + (await parkedOf('once')),
    (parked) => parked === 2,
  );
  await call('run.pause', { run: 'twice' });
  await call('resume', { kind: 'scraper', name: 'gate' });
  await allDone('once', 1);
  t.equal(await parkedOf('twice'), 1, 'its run is paused');
  await call('run.resume', { run: 'twice' });
  t.ok((await allDone('twice', 1)) < 5_000);
});

t.test('what waits for another reason meanwhile is held when its time comes, and goes on', async (t) => {
  const id = await submit('mixed', 'later', { later: 1_000 });
  await untilSo(
    () => stats('mixed'),
    ({ deferred }) => deferred === 1,
  );
  t.equal(await parkedOf('mixed'), 0);
  await call('pause', { kind: 'scraper', name: 'gate' });
  await untilSo(
    () => parkedOf('mixed'),
    (parked) => parked === 1,
  );
  await call('resume', { kind: 'scraper', name: 'gate' });
  await untilSo(
    () => call<{ where: string; explanation: string[] }>('why', { id, run: 'mixed' }),
    ({ where, explanation }) => where === 'deferred' && /waits for its time/.test(explanation[0] ?? ''),
  );
  await call('task.cancel', { run: 'mixed', id });
});

t.test('the coordinator that took the flag away dies: its successor brings them back', async (t) => {
  await call('pause', { kind: 'scraper', name: 'gate' });
  await Promise.all(keysOf(20).map((key) => submit('orphans', key)));
  await untilSo(
    () => parkedOf('orphans'),
    (parked) => parked === 20,
  );
  coordinator.abort();
  await coordinator.done;
  // The flag goes, and nobody is there.
  const entry = await cluster.bucket.get('control.pause.scraper.gate');
  await cluster.bucket.purge('control.pause.scraper.gate', {
    expect: entry?.revision ?? 0,
    markerTtlMs: 1_000,
  });
  coordinator = await cluster.start('coordinator', 'c2');
  await allDone('orphans', 20);
  t.equal(await parkedOf('orphans'), 0);
});

t.test('tasks that are put aside while the flag goes come back', async (t) => {
  await call('pause', { kind: 'scraper', name: 'gate' });
  const ids = await Promise.all(keysOf(30).map((key) => submit('slow', key)));
  await call('resume', { kind: 'scraper', name: 'gate' });
  await allDone('slow', ids.length);
  t.equal(await parkedOf('slow'), 0);
});

t.test('a cancelled run leaves nothing aside', async (t) => {
  await call('pause', { kind: 'scraper', name: 'gate' });
  await submit('unwanted', 'k1');
  await submit('unwanted', 'k2');
  await untilSo(
    () => parkedOf('unwanted'),
    (parked) => parked === 2,
  );
  await call('run.cancel', { run: 'unwanted' });
  await untilSo(
    () => call<{ final?: object }>('run.show', { run: 'unwanted' }),
    ({ final }) => final !== undefined,
  );
  t.equal(await parkedOf('unwanted'), 0);
  await call('resume', { kind: 'scraper', name: 'gate' });
});
