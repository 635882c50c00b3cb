/** The ledger on a real server: one outcome per task, and counters that are exact whatever dies. */
import t from 'tap';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { LedgerRecord, Outcome, TaskSpec } from '../../src/domain/task.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { createDuplicateCounter } from '../../src/nats/duplicate-counter.ts';
import type { LedgerReader, LedgerWriter } from '../../src/nats/ledger.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createLedgerWriter } from '../../src/nats/ledger-writer.ts';
import { countTasks, NO_COUNTS } from '../../src/policy/counters.ts';
import { createNames } from '../../src/wire/names.ts';
import { encodeCount } from '../../src/wire/task-codec.ts';
import { quietLog, startNatsServer, type Teardown, type TestServer } from '../kit/nats-server.ts';
import { createRandom } from '../kit/random.ts';
import { acceptOne } from '../kit/accept-one.ts';

const names = createNames('trawl');

type Queued = Extract<LedgerRecord, { state: 'queued' }>;

const specOf = (run: string, id: string): TaskSpec => ({
  id,
  run,
  scraper: 'shop',
  priority: 0,
  createdAt: 1,
});
const queued = (run: string, id: string): Queued => ({
  state: 'queued',
  spec: specOf(run, id),
  at: 1,
  faults: [],
});
const done = (run: string, id: string, worker = 'w', items: unknown[] = []): Outcome => ({
  state: 'done',
  spec: specOf(run, id),
  at: 2,
  faults: [],
  worker,
  startedAt: 1,
  result: { items, pages: 1, bytes: 2 },
});
const dead = (run: string, id: string): Outcome => ({
  state: 'dead',
  spec: specOf(run, id),
  at: 2,
  faults: [],
  error: { code: 'INTERNAL', message: 'boom' },
});

async function open(
  t: Teardown,
  server: TestServer,
  durability: 'always' | 'interval' = 'interval',
): Promise<{ connection: Connection; writer: LedgerWriter; reader: LedgerReader }> {
  const connection = await server.connect();
  const writer = createLedgerWriter(connection, {
    names,
    durability,
    batchMax: 100,
    ackTimeoutMs: 2_000,
    log: quietLog,
  });
  t.teardown(() => writer.close());
  return { connection, writer, reader: createLedgerReader(connection, names) };
}

async function prepare(t: Teardown, sync: 'always' | 'interval'): Promise<TestServer> {
  const server = await startNatsServer(t, { sync });
  const connection = await server.connect();
  await applyTopology(connection, planCluster(loadConfig({ flags: {}, env: {}, cwd: '/' }).config), {
    onDrift: 'update',
  });
  return server;
}

const server = await prepare(t, 'interval');

t.test('accept, settle, settle again: one outcome, by the word of the server', async (t) => {
  const { writer, reader } = await open(t, server);
  const rival = (await open(t, server)).writer;
  const accepted = await acceptOne(writer, queued('one', 'a'));
  t.match(accepted, { kind: 'stored' });
  t.match(await acceptOne(rival, queued('one', 'a')), { kind: 'refused' }, 'known for ever');
  const seq = accepted.kind === 'stored' ? accepted.seq : 0;
  const both = await Promise.all([
    writer.settle(done('one', 'a', 'w1', [1, 2]), seq),
    rival.settle(done('one', 'a', 'w2'), seq),
  ]);
  t.same(both.map(({ kind }) => kind).sort(), ['refused', 'stored']);
  t.match(await reader.read('one', 'a'), { record: { state: 'done' } });
  t.equal(await reader.read('one', 'nobody'), undefined);
  t.match(await reader.counts('one'), { accepted: 1, done: 1, dead: 0 });
});

t.test('a dead task goes back to queued once, and its late outcome is refused', async (t) => {
  const { writer, reader } = await open(t, server);
  const first = await acceptOne(writer, queued('redrive', 'a'));
  const acceptSeq = first.kind === 'stored' ? first.seq : 0;
  const death = await writer.settle(dead('redrive', 'a'), acceptSeq);
  const deadSeq = death.kind === 'stored' ? death.seq : 0;
  const again = await Promise.all([
    writer.redrive(queued('redrive', 'a'), deadSeq),
    writer.redrive(queued('redrive', 'a'), deadSeq),
  ]);
  t.same(again.map(({ kind }) => kind).sort(), ['refused', 'stored']);
  t.match(
    await writer.settle(done('redrive', 'a'), acceptSeq),
    { kind: 'refused' },
    'a zombie of the first life',
  );
  t.match(countTasks(await reader.counts('redrive')), { accepted: 1, dead: 0, open: 1 });
  t.same(await reader.listDead('redrive'), [], 'the index of dead tasks has let go of it');
  const second = again.find(({ kind }) => kind === 'stored');
  await writer.settle(dead('redrive', 'a'), second?.kind === 'stored' ? second.seq : 0);
  t.same(await reader.listDead('redrive'), [
    { run: 'redrive', id: 'a', scraper: 'shop', at: 2, code: 'INTERNAL', message: 'boom' },
  ]);
  t.same(await reader.findRuns('a'), ['one', 'redrive']);
});

t.test('batches with known tasks in them: the new ones are stored, each told apart', async (t) => {
  const { writer, reader } = await open(t, server);
  const random = createRandom(99);
  const known = new Set<string>();
  for (let round = 0; round < 15; round += 1) {
    const ids = Array.from({ length: random.int(1, 250) }, () => `t${random.int(0, 800)}`);
    const outcomes = await Promise.all(ids.map((id) => acceptOne(writer, queued('mixed', id))));
    for (const id of new Set(ids)) {
      const kinds = outcomes.filter((_, index) => ids[index] === id).map(({ kind }) => kind);
      t.equal(
        kinds.filter((kind) => kind === 'stored').length,
        known.has(id) ? 0 : 1,
        `${id} in round ${round}`,
      );
      t.ok(kinds.every((kind) => kind !== 'failed'));
      known.add(id);
    }
  }
  t.equal((await reader.counts('mixed')).accepted, known.size);
  t.equal((await reader.readMany('mixed', [...known, 'x', 'y'])).size, known.size);
});

t.test('the duplicates of a message are counted once, whoever counts and however often', async (t) => {
  const { reader, writer } = await open(t, server);
  const counters = await Promise.all(
    Array.from({ length: 3 }, async (_, n) =>
      createDuplicateCounter(await server.connect(`counter-${n}`), {
        names,
        ackTimeoutMs: 5_000,
        log: quietLog,
      }),
    ),
  );
  t.teardown(() => counters.forEach((counter) => counter.close()));
  const mayCount = (): boolean => true;
  const all = counters.flatMap((counter) =>
    Array.from({ length: 600 }, (_, intake) =>
      counter.count({ run: 'dup', duplicates: 1 + (intake % 3), intake, mayCount }),
    ),
  );
  await acceptOne(writer, queued('dup', 'a'));
  t.ok((await Promise.all(all)).every((counted) => counted));
  t.match(await reader.counts('dup'), { accepted: 1, duplicates: 1_200 });

  const [first] = counters;
  const lapsed = { run: 'dup', duplicates: 5, intake: 9_000, mayCount: () => false };
  t.equal(await first?.count(lapsed), false, 'what is no longer held is not counted');
  t.equal(await first?.count({ ...lapsed, intake: 7 }), true, 'and what is counted is not asked about');
  t.equal((await reader.counts('dup')).duplicates, 1_200);
});

t.test('more writers than one request may answer for', async (t) => {
  const { connection, reader } = await open(t, server);
  const payload = encodeCount({ ...NO_COUNTS, accepted: 1, recent: [] });
  const writers = Array.from({ length: 1_200 }, (_, n) => names.count('many', `w${n}`));
  await Promise.all(writers.map((subject) => connection.js.publish(subject, payload)));
  t.equal((await reader.counts('many')).accepted, 1_200);
});

for (const sync of ['interval', 'always'] as const) {
  t.test(
    `the server is killed again and again under load (${sync}): counters equal the ledger`,
    { timeout: 60_000 },
    async (t) => {
      const fragile = await prepare(t, sync);
      const { writer, reader } = await open(t, fragile, sync);
      const total = 3_000;
      const deaths = total / 30;
      let killed = 0;
      const settled = new Map<string, string>();
      const work = Array.from({ length: 30 }, async (_, lane) => {
        for (let n = 0; n < total / 30; n += 1) {
          const id = `${lane}-${n}`;
          const accepted = await acceptOne(writer, queued('storm', id));
          if (accepted.kind !== 'stored')
            return t.fail(`${id} was ${accepted.kind}: nobody else writes here`);
          // Few enough that most are stored by themselves, where the server does not sync.
          const outcome = await writer.settle(
            lane === 0 ? dead('storm', id) : done('storm', id),
            accepted.seq,
          );
          settled.set(id, outcome.kind);
          if (settled.size % 600 === 0 && killed < 4) {
            killed += 1;
            await fragile.kill('SIGKILL');
            await fragile.start();
          }
        }
        return undefined;
      });
      await Promise.all(work);
      t.equal(killed, 4);
      t.same(
        new Set(settled.values()),
        new Set(['stored']),
        'an answer that was lost is found out, never assumed',
      );
      t.match(await reader.counts('storm'), { accepted: total, done: total - deaths, dead: deaths });
      const records = await reader.readMany('storm', [...settled.keys()]);
      t.equal([...records.values()].filter(({ record }) => record.state === 'dead').length, deaths);
      t.equal((await reader.listDead('storm')).length, deaths);
      t.equal([...records.values()].filter(({ record }) => record.state === 'done').length, total - deaths);
    },
  );
}

t.test('a full ledger refuses in words and loses nothing', async (t) => {
  const { connection, writer, reader } = await open(t, server);
  const { config, state } = await connection.jsm.streams.info('LEDGER');
  await connection.jsm.streams.update('LEDGER', { max_bytes: state.bytes + 2_000 });
  t.teardown(() => connection.jsm.streams.update('LEDGER', { max_bytes: config.max_bytes }));
  const outcomes = await Promise.all(
    Array.from({ length: 300 }, (_, n) => acceptOne(writer, queued('full', `f${n}`))),
  );
  const stored = outcomes.filter(({ kind }) => kind === 'stored').length;
  t.ok(outcomes.some((outcome) => outcome.kind === 'failed' && /maximum bytes/.test(outcome.reason)));
  t.equal((await reader.counts('full')).accepted, stored);
});

t.test('a closed writer fails what it is asked', async (t) => {
  const { writer } = await open(t, server);
  const pending = acceptOne(writer, queued('closed', 'a'));
  writer.close();
  t.match(await pending, { kind: 'failed' });
  t.match(await acceptOne(writer, queued('closed', 'b')), { kind: 'failed' });
});
