/** Runs: in line, active, over; exactly once, with exact counts, whoever dies. */
import t from 'tap';
import { names, openField, until, type Coordinator, type Field } from '../kit/coordinators.ts';
import { QUICK_TTL } from '../kit/leader-ttl.ts';
import { quietLog, startNatsServer } from '../kit/nats-server.ts';
import { createFencedStore } from '../../src/nats/fenced-run.ts';
import { acquireLock } from '../../src/nats/lock.ts';
import { createRuns } from '../../src/nats/runs.ts';
import { withPhase } from '../../src/policy/run-state.ts';

const urls = (count: number, path = 'p'): string[] =>
  Array.from({ length: count }, (_, n) => `https://shop.test/${path}/${n}`);
const kinds = ({ news }: Coordinator): string[] =>
  news
    .filter(({ about }) => about === 'run')
    .map(({ kind, facts }) => `${kind} ${(facts as { id: string }).id}`);
const seal = (field: Field, run: string, messages: number): Promise<unknown> =>
  field.services.call('run.seal', { run, messages });
const consumers = async (field: Field): Promise<string[]> => {
  const found: string[] = [];
  for await (const { name } of field.connection.jsm.consumers.list('INTAKE')) found.push(name);
  return found.sort();
};

t.test('two runs of a scraper go one after the other, and end once, with exact counts', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  const leader = await field.start();
  for (const run of ['first', 'second']) {
    t.match(await field.services.call('run.create', { scraper: 'shop', run }), { id: run, state: 'queued' });
    for (let n = 0; n < 3; n += 1) await field.submit({ run }, urls(20, `${n}`).join('\n'));
    await field.submit({ run }, [...urls(5, '0'), 'no url'].join('\n'));
    await seal(field, run, 4);
  }
  const tasks = await field.takeTasks(60);
  t.ok(tasks.every(({ spec }) => spec.run === 'first'));
  await field.untilRun('first', ({ taken }) => taken === 4);
  t.equal(await field.messages('INTAKE'), 4, 'the second run waits in the intake, untouched');
  t.same(await consumers(field), ['coordinator', 'run_first']);
  t.match(await field.services.call('run.show', { run: 'first' }), {
    state: 'active',
    counts: { total: 61, dead: 1, remaining: 60, duplicates: 5 },
  });
  await field.settle(tasks.slice(0, 59));
  await field.settle(tasks.slice(59), 'dead');
  const settledAt = Date.now();
  const first = await field.untilRun('first', ({ endedAt }) => endedAt !== undefined);
  t.match(first, {
    state: 'done_with_errors',
    final: { total: 61, done: 59, dead: 2, queued: 0, running: 0, deferred: 0, cancelled: 0, duplicates: 5 },
  });
  t.ok((first.endedAt ?? 0) - settledAt < 1_000, 'within a second of the last outcome');
  const second = await field.untilRun('second', ({ state }) => state === 'active');
  t.ok((second.startedAt ?? 0) - (first.endedAt ?? 0) < 1_000, 'the next one starts within a second');
  await field.settle(await field.takeTasks(60));
  await field.untilRun('second', ({ state }) => state === 'done_with_errors');
  await until(async () => (await consumers(field)).length === 1);
  t.same(
    kinds(leader).filter((line) => !line.startsWith('created')),
    ['started first', 'ended first', 'started second', 'ended second'],
  );
  t.same(
    kinds(leader).filter((line) => line.startsWith('created')),
    ['created first', 'created second'],
  );
});

t.test(
  'a run that exists only as submissions is found, and one that is never sealed ends when idle',
  async (t) => {
    const field = await openField(t, await startNatsServer(t));
    await field.start({ limits: { runEnd: { idleEndMs: 1_000 } } });
    await field.submit({ run: 'found' }, urls(3).join('\n'));
    const tasks = await field.takeTasks(3);
    await field.settle(tasks);
    const run = await field.untilRun('found', ({ state }) => state === 'done');
    t.ok((run.endedAt ?? 0) - run.lastSubmitAt >= 1_000, 'more might have come');
    t.match(run, { scraper: 'shop', final: { total: 3, done: 3 } });

    await field.submit({ run: 'found' }, [...urls(3), 'https://shop.test/late'].join('\n'));
    await field.untilTakenIn();
    const late = (await field.recordsOf('found')).filter(({ state }) => state === 'dead');
    t.equal(late.length, 1, 'what comes too late is kept as a dead task');
    t.match(late, [{ error: { code: 'REJECTED' }, spec: { url: 'https://shop.test/late' } }]);
    t.match(await field.reader.counts('found'), { accepted: 4, duplicates: 3, done: 3, dead: 1 });
    await until(async () => (await consumers(field)).length === 1);
    t.equal(await field.messages('TASKS'), 0);
  },
);

t.test(
  'an empty run ends as soon as it is sealed; a seal that overtakes its messages waits for them',
  async (t) => {
    const field = await openField(t, await startNatsServer(t));
    await field.start();
    await field.services.call('run.create', { scraper: 'shop', run: 'empty' });
    await seal(field, 'empty', 0);
    t.match(await field.untilRun('empty', ({ state }) => state === 'done'), { final: { total: 0 } });

    await field.services.call('run.create', { scraper: 'shop', run: 'early' });
    await seal(field, 'early', 2);
    await field.submit({ run: 'early' }, urls(2).join('\n'));
    await field.settle(await field.takeTasks(2));
    await field.untilRun('early', ({ taken }) => taken === 1);
    await field.submit({ run: 'early' }, urls(2, 'more').join('\n'));
    await field.settle(await field.takeTasks(2));
    t.match(await field.untilRun('early', ({ state }) => state === 'done'), { final: { total: 4, done: 4 } });
    await t.rejects(seal(field, 'nobody', 1), { code: 'INVALID' });
  },
);

t.test('active runs feed the queue in rotation', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  for (let n = 0; n < 60; n += 1) await field.submit({ run: 'big' }, urls(100, `b${n}`).join('\n'));
  for (let n = 0; n < 20; n += 1)
    await field.submit({ run: 'small', scraper: 'news' }, urls(100, `s${n}`).join('\n'));
  const runs = createRuns(field.bucket, { log: quietLog });
  for (const run of [
    { id: 'big', scraper: 'shop' },
    { id: 'small', scraper: 'news' },
  ]) {
    await runs.create({ ...run, standing: false });
    await runs.change(run.id, (record) => ({ ...record, state: 'active', startedAt: Date.now() }));
  }
  await field.start({ limits: { watermark: 200, watermarkEveryMs: 5 } });
  const order: string[] = [];
  while (order.filter((run) => run === 'small').length < 2_000) {
    for (const { spec } of await field.takeTasks(100)) order.push(spec.run);
  }
  t.ok(
    order.length >= 3_000 && order.length <= 5_000,
    `the small run was through after ${order.length} of 8,000 tasks`,
  );
});

t.test('a paused run keeps its messages, and goes on where it was', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  await field.submit({ run: 'nap' }, urls(5).join('\n'));
  await field.takeTasks(5);
  const runs = createRuns(field.bucket, { log: quietLog });
  await field.untilRun('nap', ({ taken }) => taken === 1);
  await runs.change('nap', (run) => ({ ...run, state: 'paused', pausedFrom: 'active' }));
  await field.submit({ run: 'other' }, urls(5).join('\n'));
  await field.takeTasks(5);
  await field.submit({ run: 'nap' }, urls(5, 'more').join('\n'));
  await field.submit({}, 'https://shop.test/quick');
  await field.takeTasks(1);
  await until(async () => (await field.messages('INTAKE')) === 1);
  t.same(await field.intakeSubjects(), ['trawl.submit.shop.nap'], 'what came meanwhile waits');
  await runs.change('nap', (run) => withPhase(run, { state: 'active' }));
  await field.takeTasks(5);
  await field.untilTakenIn();
});

t.test('when the leader dies, the other one ends the run, once', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  const first = await field.start({ id: 'c1', leaderTtl: QUICK_TTL });
  await until(() => Promise.resolve(first.news.some(({ kind }) => kind === 'elected')));
  const second = await field.start({ id: 'c2' });
  await field.services.call('run.create', { scraper: 'shop', run: 'r1' });
  await field.submit({ run: 'r1' }, urls(200).join('\n'));
  await seal(field, 'r1', 1);
  const tasks = await field.takeTasks(200);
  await field.untilRun('r1', ({ taken }) => taken === 1);
  await field.settle(tasks.slice(0, 100));
  await first.kill();
  await field.settle(tasks.slice(100));
  const run = await field.untilRun('r1', ({ state }) => state === 'done');
  t.match(run.final, { total: 200, done: 200, duplicates: 0 });
  await until(() => Promise.resolve(kinds(second).includes('ended r1')));
  t.same(
    kinds(second).filter((line) => line.startsWith('ended')),
    ['ended r1'],
  );
  t.same(
    kinds(first).filter((line) => line.startsWith('ended')),
    [],
  );
});

t.test('a deposed leader changes no run', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  const runs = createRuns(field.bucket, { log: quietLog });
  await runs.create({ id: 'r1', scraper: 'shop', standing: false });
  const lock = await acquireLock(field.bucket, 'coordinator', { ttlMs: 60_000, owner: 'old' });
  if (!lock) throw new Error('the lock is free');
  const store = createFencedStore(field.connection, field.bucket, lock);
  const activate = (): Promise<unknown> =>
    runs.changeWith(store, 'r1', (run) => ({ ...run, state: 'active', startedAt: 1 }));
  t.match(await activate(), { run: { state: 'active' } });
  const stale = (await runs.list())[0]?.revision ?? 0;
  await runs.change('r1', (run) => ({ ...run, priority: 3 }));
  const record = await runs.get('r1');
  if (!record) throw new Error('it is there');
  await t.rejects(store(record, stale), { code: 'CONFLICT' }, 'somebody changed the run meanwhile');
  // Somebody else writes the lock's key: its token is no longer the last one.
  await field.bucket.put('lock.coordinator', new TextEncoder().encode('{"owner":"new"}'));
  await t.rejects(activate(), { code: 'CONFLICT' });
  t.match(await runs.get('r1'), { priority: 3 });
  await lock.release();
});

t.test('stats add up and answer at once; lists tell what they are asked for', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  await field.submit({}, urls(50).join('\n'));
  await field.submit({}, [...urls(10), 'no url'].join('\n'));
  await field.submit({}, urls(4, 'later').join('\n'), { 'Trawl-Not-Before': String(Date.now() + 60_000) });
  await field.submit({ scraper: 'news', run: 'n1' }, urls(6).join('\n'));
  await field.untilTakenIn();
  await field.settle((await field.takeTasks(10)).slice(0, 7));
  const consumer = await field.connection.js.consumers.get(names.stream('TASKS'), 'p0');
  const inHand = await consumer.fetch({ max_messages: 5, expires: 2_000 });
  for await (const message of inHand) message.working();
  const before = performance.now();
  const stats = (await field.services.call('stats', {})) as Record<string, number>;
  const tookMs = performance.now() - before;
  t.match(stats, {
    total: 61,
    done: 7,
    dead: 1,
    duplicates: 10,
    running: 5,
    deferred: 4,
    workers: { total: 0 },
  });
  const { queued = 0, running = 0, deferred = 0, done = 0, dead = 0, cancelled = 0, remaining } = stats;
  t.equal(stats['total'], queued + running + deferred + done + dead + cancelled);
  t.equal(remaining, queued + running + deferred);
  t.ok(tookMs < 500, `${tookMs.toFixed(0)} ms`);
  t.match(await field.services.call('stats', { run: 'n1' }), { total: 6, done: 0 });
  t.match(await field.services.call('run.list', { scraper: 'news' }), {
    runs: [{ id: 'n1', counts: { total: 6 } }],
  });
  t.match(await field.services.call('run.list', { state: 'done' }), { runs: [] });
  await t.rejects(field.services.call('run.show', { run: 'nobody' }), { code: 'INVALID' });
});

t.test('a run gets a name from the time, and no two get the same', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  const made = await Promise.all(
    Array.from({ length: 5 }, () => field.services.call('run.create', { scraper: 'shop' })),
  );
  const ids = made.map((run) => (run as { id: string }).id);
  t.equal(new Set(ids).size, 5);
  t.ok(ids.every((id) => /^\d{8}_\d{6}(-\d+)?$/.test(id)));
  const again = { scraper: 'shop', run: ids[0] };
  t.match(await field.services.call('run.create', again), { id: ids[0] }, 'asking again is no second run');
  await t.rejects(field.services.call('run.create', { ...again, scraper: 'news' }), { code: 'CONFLICT' });
});
