/** What is running and what waits, of one run among several, on a real server with real workers. */
import t from 'tap';
import { encodeTask } from '../../src/wire/task-codec.ts';
import { createPublisher, type Outgoing } from '../../src/nats/publisher.ts';
import { publishAll } from '../../src/nats/publisher/all.ts';
import { startSmallCluster, untilSo } from '../kit/small-cluster.ts';

type Figures = Record<'total' | 'queued' | 'running' | 'deferred' | 'done' | 'dead' | 'cancelled', number> & {
  readonly exact: { running: boolean; deferred: boolean };
};

const cluster = await startSmallCluster(t, { 'worker.concurrency': '4' });
const { call, submit, connection, names } = cluster;
await cluster.start('coordinator', 'c1');
await cluster.start('worker', 'w1');
await cluster.start('worker', 'w2');

const stats = (run?: string): Promise<Figures> => call('stats', run === undefined ? {} : { run });

t.test('each run has its own figures, and they add up', async (t) => {
  const held = ['h1', 'h2', 'h3', 'h4', 'h5'];
  await Promise.all(held.map((key) => submit('busy', key, { hold: true })));
  await Promise.all(['l1', 'l2'].map((key) => submit('later', key, { later: 60_000 })));
  await submit('mixed', 'm1', { hold: true });
  await submit('mixed', 'm2', { later: 60_000 });
  await submit('mixed', 'm3', { fail: true });
  const exact = { running: true, deferred: true };
  // A machine that is busy answers late: then the figure is not called exact, and is asked for again.
  const told = (run: string | undefined, wanted: Partial<Figures>): Promise<Figures> =>
    untilSo(
      () => stats(run),
      (found) => isLike(found, wanted) && found.exact.running,
    );
  const busy = await told('busy', { total: 5, queued: 0, running: 5, deferred: 0 });
  const later = await told('later', { total: 2, queued: 0, running: 0, deferred: 2 });
  const mixed = await told('mixed', { total: 3, queued: 0, running: 1, deferred: 1, dead: 1 });
  for (const found of [busy, later, mixed]) t.same(found.exact, exact);
  t.same((await told(undefined, { total: 10, running: 6, deferred: 3 })).exact, exact);
  const listed = async (): Promise<Figures | undefined> => {
    const { runs } = await call<{ runs: { id: string; counts: Figures }[] }>('run.list', {});
    return runs.find(({ id }) => id === 'mixed')?.counts;
  };
  const inList = await untilSo(listed, (counts) => counts?.exact.running === true);
  t.match(inList, { running: 1, deferred: 1, exact });
  const shown = (): Promise<{ counts: Figures }> => call('run.show', { run: 'busy' });
  t.match(await untilSo(shown, ({ counts }) => counts.exact.running), { counts: { running: 5, exact } });
  for (const found of [busy, later, mixed]) {
    const { total, queued, running, deferred, done, dead, cancelled } = found;
    t.equal(total, queued + running + deferred + done + dead + cancelled);
  }
});

t.test('one worker that does not answer makes the figure inexact, not late', async (t) => {
  await call('run.cancel', { run: 'busy' });
  const { nc } = connection;
  // Somebody who has a heartbeat, and nothing else.
  const beat = await cluster.bucket.get('beat.worker.w1');
  const ghost = { ...(JSON.parse(new TextDecoder().decode(beat?.value)) as object), id: 'ghost' };
  const revision = await cluster.bucket.put(
    'beat.worker.ghost',
    new TextEncoder().encode(JSON.stringify(ghost)),
  );
  await nc.flush();
  t.match(await stats('mixed'), { exact: { running: false, deferred: true } });
  await cluster.bucket.purge('beat.worker.ghost', { expect: revision, markerTtlMs: 1_000 });
});

t.test(
  'with many that wait the answer still comes at once, and says what it is',
  { timeout: 60_000 },
  async (t) => {
    const publisher = await createPublisher(connection, {
      stream: names.stream('TASKS'),
      durability: 'always',
    });
    t.teardown(() => publisher.close());
    const fill = (from: number, to: number): Promise<void> =>
      publishAll(publisher, delays(from, to), () => undefined);
    const quickest = async (run: string): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 20; n += 1) {
        const began = performance.now();
        await stats(run);
        times.push(performance.now() - began);
      }
      return Math.min(...times);
    };
    await fill(0, 9_000);
    t.match(await stats('mixed'), { deferred: 1, exact: { deferred: true } });
    const few = await quickest('mixed');
    await fill(9_000, 20_000);
    t.match(await stats('mixed'), { exact: { deferred: false } });
    const many = await quickest('mixed');
    t.comment(`${few.toFixed(1)} ms with 9,000 that wait, ${many.toFixed(1)} ms with 20,000`);
    t.ok(few < 50 && many < 50);
  },
);

function isLike(found: Figures, wanted: Partial<Figures>): boolean {
  return Object.entries(wanted).every(([name, value]) => found[name as keyof Figures] === value);
}

function* delays(from: number, to: number): Generator<Outgoing> {
  const at = new Date(Date.now() + 3_600_000).toISOString();
  for (let n = from; n < to; n += 1) {
    const spec = {
      id: `x${n}`,
      run: 'heap',
      scraper: 'gate',
      key: `x${n}`,
      priority: 0,
      createdAt: 1,
    } as const;
    const headers = { 'Nats-Schedule': `@at ${at}`, 'Nats-Schedule-Target': names.task(spec) };
    const task = { spec, acceptSeq: 1, faults: [], triedProxies: [], deferrals: 0 };
    yield { subject: names.delay(spec), payload: encodeTask(task), headers, repeatable: true };
  }
}
