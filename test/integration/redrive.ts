/** Dead tasks that are put back: their run goes on and ends anew, and nothing is lost on the way. */
import t from 'tap';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createLedgerWriter } from '../../src/nats/ledger-writer.ts';
import { createRedriveNotes } from '../../src/nats/redrive-notes.ts';
import { createRuns } from '../../src/nats/runs.ts';
import { createRedrive } from '../../src/services/redrive.ts';
import { quietLog } from '../kit/nats-server.ts';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';

interface Shown {
  readonly state: string;
  readonly endedAt?: number;
  readonly final?: object;
  readonly counts: Record<string, number>;
}

const cluster = await startSmallCluster(t);
const { call, connection, names, bucket } = cluster;
await cluster.start('coordinator', 'c1');
await cluster.start('worker', 'w1');

const show = (run: string): Promise<Shown> => call('run.show', { run });
const ends = (run: string, state: string): Promise<Shown> =>
  untilSo(
    () => show(run),
    (found) => found.state === state,
  );

t.test('a run that has ended goes on, and ends as what it is now', async (t) => {
  await cluster.submitAll('again', [
    { key: 'good' },
    { key: 'once', input: { once: 'again-once' } },
    { key: 'bad', input: { fail: true } },
  ]);
  const first = await ends('again', 'done_with_errors');
  t.match(first.counts, { total: 3, done: 1, dead: 2 });
  t.match(await call('dead.retry', { run: 'again' }), { matched: 2, changed: 2 });
  const reopened = await show('again');
  t.ok(reopened.state === 'active' || reopened.counts['dead'] === 1, 'active, unless it has ended again');
  const second = await untilSo(
    () => show('again'),
    ({ state, counts }) => state === 'done_with_errors' && counts['done'] === 2,
  );
  t.match(second.final, { total: 3, done: 2, dead: 1, cancelled: 0, queued: 0 });
  t.ok((second.endedAt ?? 0) > (first.endedAt ?? 0));
});

t.test('without dead tasks left it ends as done', async (t) => {
  await cluster.submitAll('healed', [{ key: 'once', input: { once: 'healed-once' } }]);
  await ends('healed', 'done_with_errors');
  t.match(await call('dead.retry', { run: 'healed' }), { matched: 1, changed: 1 });
  t.match((await ends('healed', 'done')).final, { total: 1, done: 1, dead: 0 });
});

t.test('what is no task is left out before the limit counts', async (t) => {
  const tasks = [...Array.from({ length: 3 }, (_, n) => ({ key: `f${n}`, input: { fail: true } }))];
  await cluster.submitAll('odd', tasks);
  await ends('odd', 'done_with_errors');
  // They die last, so they are the first that a limit meets.
  await connection.js.publish(names.submit('gate', 'odd'), 'no url\nneither\nnor this');
  await untilSo(
    () => call<{ count: number }>('dead.list', { run: 'odd' }),
    ({ count }) => count === 6,
  );
  t.match(await call('dead.retry', { run: 'odd', limit: 2, dryRun: true }), { matched: 2, changed: 0 });
  t.match(await call('dead.retry', { run: 'odd', limit: 2 }), { matched: 2, changed: 2 });
  await ends('odd', 'done_with_errors');
  t.match(
    await call('dead.drop', { run: 'odd', limit: 100 }),
    { matched: 6, changed: 6 },
    'they can be dropped',
  );
});

t.test('a cancelled run goes on too, once its tasks are cancelled', async (t) => {
  await cluster.submitAll('stopped', [
    { key: 'once', input: { once: 'stopped-once' } },
    { key: 'held', input: { hold: true } },
  ]);
  await untilSo(
    () => show('stopped'),
    ({ counts }) => counts['dead'] === 1 && counts['running'] === 1,
  );
  await call('run.cancel', { run: 'stopped' });
  await untilSo(
    () => show('stopped'),
    ({ final }) => final !== undefined,
  );
  t.match(await call('dead.retry', { run: 'stopped' }), { changed: 1 });
  t.match((await ends('stopped', 'done')).final, { total: 2, done: 1, cancelled: 1 });
});

t.test('whoever dies while putting tasks back loses none', async (t) => {
  await cluster.submitAll('half', [{ key: 'once', input: { once: 'half-once' } }]);
  await ends('half', 'done_with_errors');
  const reader = createLedgerReader(connection, names);
  const writer = createLedgerWriter(connection, {
    names,
    durability: 'interval',
    batchMax: 500,
    ackTimeoutMs: 5_000,
    log: quietLog,
  });
  t.teardown(() => writer.close());
  const parts = {
    reader,
    writer,
    runs: createRuns(bucket, { log: quietLog }),
    notes: createRedriveNotes(bucket),
    now: Date.now,
  };
  const dying = createRedrive({
    ...parts,
    queue: { enqueue: () => Promise.reject(new Error('dead')) },
  });
  const [entry] = await reader.listDead('half');
  const stored = await reader.read('half', entry?.id ?? '');
  if (stored?.record.state !== 'dead') throw new Error('it is not dead');
  await t.rejects(dying.putBack([{ seq: stored.seq, record: stored.record }]), { message: 'dead' });
  t.match(await show('half'), { state: 'active', counts: { dead: 0, queued: 1 } });
  const heir = createRedrive({
    ...parts,
    now: () => Date.now() + 60_000,
    queue: {
      async enqueue(tasks) {
        for (const { spec, acceptSeq } of tasks) queued.push(`${spec.id} ${acceptSeq}`);
      },
    },
  });
  const queued: string[] = [];
  t.equal(await heir.finishLeft(), 1);
  t.same(queued, [`${entry?.id ?? ''} ${(await reader.read('half', entry?.id ?? ''))?.seq ?? 0}`]);
  t.equal(await heir.finishLeft(), 0, 'once');
});
