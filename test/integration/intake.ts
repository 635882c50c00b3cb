/** What anyone submits becomes tasks: once, all of it, whatever dies meanwhile. */
import t from 'tap';
import { encode } from '../../src/wire/codec.ts';
import { createTaskId } from '../../src/domain/task-id.ts';
import { createTakeIn } from '../../src/actors/coordinator/take-in.ts';
import { createDuplicateCounter } from '../../src/nats/duplicate-counter.ts';
import { createIntake } from '../../src/nats/intake.ts';
import { createPublisher } from '../../src/nats/publisher.ts';
import { createRuns } from '../../src/nats/runs.ts';
import { createTaskQueue, type TaskQueue } from '../../src/nats/task-queue.ts';
import { SUBMISSION_LIMITS } from '../../src/wire/submission-fields.ts';
import { names, openField, until, type Field } from '../kit/coordinators.ts';
import { quietLog, startNatsServer, type Teardown } from '../kit/nats-server.ts';

const urls = (count: number, path = 'p'): string[] =>
  Array.from({ length: count }, (_, n) => `https://shop.test/${path}/${n}`);

t.test('every form of a submission becomes tasks of the standing run', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  await field.submit({}, 'https://shop.test/one');
  await field.submit({}, urls(3, 'lines').join('\n'));
  await field.submit({}, JSON.stringify({ url: 'https://shop.test/json', priority: 0, color: 'red' }));
  await field.submit({}, JSON.stringify(['https://shop.test/array', { key: 'k1' }, { input: { a: 1 } }]));
  await field.submit({}, encode([{ url: 'https://shop.test/msgpack' }]));
  const tasks = await field.takeTasks(9);
  t.same([...new Set(tasks.map(({ spec }) => spec.run))], ['default-shop']);
  t.same(
    tasks.find(({ spec }) => spec.url?.endsWith('/json'))?.spec.input,
    { color: 'red' },
    'what is the scraper’s stays with the task',
  );
  await field.untilTakenIn();
  const first = tasks.find(({ spec }) => spec.url?.endsWith('/one'));
  t.equal(first?.spec.id, createTaskId({ scraper: 'shop', url: 'https://shop.test/one' }));
  t.same(
    (await field.reader.read('default-shop', first?.spec.id ?? ''))?.seq,
    first?.acceptSeq,
    'the fence of the task is the sequence of its record',
  );
  const run = await field.untilRun('default-shop', ({ taken }) => taken === 5);
  t.match(run, { state: 'active', standing: true, scraper: 'shop' });
  t.match(await field.reader.counts('default-shop'), { accepted: 9, duplicates: 0 });
});

t.test('addresses go without tracking parameters where the submitter says so', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  const raw = (source: string): string => `https://shop.test/p?utm_source=${source}`;
  const url = 'https://shop.test/p';
  const id = createTaskId({ scraper: 'shop', url });
  const asked = { scraper: 'shop', url: raw('mail'), dropTracking: true };
  t.match(await field.services.call('submit', asked), { tasks: [{ id, duplicate: false }] });
  const header = { 'Trawl-Drop-Tracking': 'true' };
  await field.submit({}, [raw('feed'), raw('search')].join('\n'), header);
  await field.submit({}, JSON.stringify({ url: raw('mail'), run: 'other' }), header);
  await field.submit({ scraper: 'news' }, raw('mail'), { ...header, 'Trawl-Run': 'third' });
  const tasks = await field.takeTasks(3);
  t.same(tasks.map(({ spec }) => spec.run).sort(), ['default-shop', 'other', 'third']);
  for (const { spec } of tasks) {
    const { scraper } = spec;
    t.match(spec, { id: createTaskId({ scraper, url }), url, input: { rawUrl: raw('mail') } });
  }
  await field.untilTakenIn();
  t.match(await field.reader.counts('default-shop'), { accepted: 1, duplicates: 2 });
  await field.submit({}, raw('mail'));
  t.match(await field.takeTasks(1), [{ spec: { url: raw('mail') } }], 'nobody else’s addresses are touched');
});

t.test('a page budget holds in the run that a task names', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  const named = urls(5).map((url) => ({ url, run: 'other' }));
  const body = JSON.stringify([...urls(5, 'home'), ...named]);
  await field.submit({}, body, { 'Trawl-Budget': 'shop 2 -' });
  await field.untilTakenIn();
  t.match(await field.reader.counts('default-shop'), { accepted: 2 });
  t.match(await field.reader.counts('other'), { accepted: 2 });
});

t.test('what was accepted once is a duplicate ever after, in other messages and other lives', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  const first = await field.start();
  await field.submit({}, urls(100).join('\n'));
  await field.submit({}, [...urls(60), ...urls(60)].join('\n'));
  await field.untilTakenIn();
  await until(async () => (await field.reader.counts('default-shop')).duplicates === 120);
  await first.stop();
  await field.start({ id: 'c2' });
  await field.submit({}, [...urls(100), 'https://shop.test/new'].join('\n'));
  await field.untilTakenIn();
  t.match(await field.reader.counts('default-shop'), { accepted: 101, duplicates: 220 });
  t.equal(await field.messages('TASKS'), 101);
  await field.submit({ run: 'again' }, urls(100).join('\n'));
  await field.takeTasks(201);
  t.match(
    await field.reader.counts('again'),
    { accepted: 100, duplicates: 0 },
    'another run takes them again',
  );
});

t.test('what is no task is buried with its reason and its bytes, and its neighbours go on', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  await field.submit({}, 'https://shop.test/good\nnot a url\nhttps://shop.test/fine');
  await field.submit({}, Buffer.from([0xc1, 0xff, 0x00]));
  await field.submit({}, 'x'.repeat(100_000));
  await field.submit({}, 'https://shop.test/a', { 'Trawl-Priority': 'high' });
  await field.submit({ scraper: 'tränk' }, 'https://shop.test/odd');
  await field.submit({ run: 'rün' }, 'https://shop.test/odd-run');
  await field.takeTasks(2);
  await field.untilTakenIn();
  const records = await field.recordsOf('*');
  const dead = records.flatMap((record) => (record.state === 'dead' ? [record] : []));
  t.equal(records.length, 8);
  t.equal(dead.length, 6);
  t.ok(dead.every(({ error }) => error.code === 'INVALID' && error.message !== ''));
  const originals = dead.map(({ original }) => Buffer.from(original ?? []));
  t.ok(originals.some((bytes) => bytes.toString() === 'not a url'));
  t.ok(originals.some((bytes) => bytes.equals(Buffer.from([0xc1, 0xff, 0x00]))));
  t.equal(Math.max(...originals.map(({ length }) => length)), 64 * 1024, 'bounded');
  t.match(await field.reader.counts('default-shop'), { accepted: 7, dead: 5 });
  t.match(await field.reader.counts('default-invalid'), { accepted: 1, dead: 1 });
});

t.test('tasks go by priority and time', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start();
  await field.submit({}, JSON.stringify({ url: 'https://shop.test/urgent', priority: 7 }));
  await field.submit({}, urls(3).join('\n'), { 'Trawl-Priority': '4' });
  const due = Date.now() + 1_500;
  await field.submit({}, 'https://shop.test/later', { 'Trawl-Not-Before': String(due) });
  await field.takeTasks(1, { priority: 7 });
  await field.takeTasks(3, { priority: 4 });
  const [later] = await field.takeTasks(1);
  t.equal(later?.spec.url, 'https://shop.test/later');
  t.ok(Date.now() >= due, 'not before its time');
  await until(async () => (await field.messages('TASKS')) === 0); // the schedule is gone as well
});

t.test('tasks that name a run go where the run is', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start({ limits: { promotion: { maxActivePerScraper: 2, maxActive: 9 } } });
  await field.submit({}, [...urls(5), ...urls(2)].join('\n'), { 'Trawl-Run': 'spring' });
  await field.submit(
    {},
    JSON.stringify([{ url: 'https://shop.test/x', run: 'autumn' }, 'https://shop.test/y']),
  );
  const tasks = await field.takeTasks(7);
  const runs = tasks.map(({ spec }) => spec.run).sort();
  t.same(runs.slice(-6), ['default-shop', 'spring', 'spring', 'spring', 'spring', 'spring']);
  await field.untilTakenIn();
  t.match(await field.reader.counts('spring'), { accepted: 5, duplicates: 2 });
  t.match(await field.reader.counts('autumn'), { accepted: 1, duplicates: 0 });
});

const leaseMs = 1_000;

interface Doomed {
  readonly enqueue: TaskQueue['enqueue'];
  /** When everything is accepted, and nothing counted yet. */
  readonly beforeCount?: () => Promise<void>;
  /** What it believes of its lease; absent: what the clock says. */
  readonly believes?: boolean;
}

/** Takes a message in as a coordinator would that dies, or sleeps, at the worst moment: it is not acknowledged. */
async function takeInAndDie(t: Teardown, field: Field, doomed: Doomed): Promise<string> {
  const connection = await field.server.connect('doomed');
  const intake = createIntake(connection, { names, limits: SUBMISSION_LIMITS });
  const duplicates = createDuplicateCounter(connection, { names, ackTimeoutMs: 5_000, log: quietLog });
  t.teardown(() => duplicates.close());
  const runs = createRuns(field.bucket, { log: quietLog });
  const takeIn = createTakeIn({
    ledger: {
      accept: (records) => field.writer.accept(records),
      async countDuplicates(count) {
        await doomed.beforeCount?.();
        return duplicates.count(count);
      },
      claimPages: () => Promise.resolve(new Set<string>()),
      readMany: (name, ids) => field.reader.readMany(name, ids),
    },
    queue: { enqueue: doomed.enqueue },
    intake,
    ensureRun: async (draft) => (await runs.ensure(draft)).run,
  });
  const end = new AbortController();
  let result = '';
  for await (const message of intake.messages({ run: 'r1' }, end.signal)) {
    // Nothing more is said about it: whoever is dead, or asleep, does not renew a lease.
    intake.close();
    const { believes } = doomed;
    const held = believes === undefined ? message : { ...message, isHeld: () => believes };
    result = await takeIn(held).catch(() => 'failed');
    break;
  }
  await connection.close();
  return result;
}

t.test('a chunk that comes again after a death loses nothing and doubles nothing', async (t) => {
  for (const enqueued of [0, 40, 100]) {
    const field = await openField(t, await startNatsServer(t), { leaseMs });
    const publisher = await createPublisher(field.connection, { stream: 'TASKS', durability: 'always' });
    t.teardown(() => publisher.close());
    const queue = createTaskQueue(field.connection, { names, publisher, route: (spec) => names.task(spec) });
    await field.submit({ run: 'r1' }, [...urls(10), 'no url'].join('\n'));
    await takeInAndDie(t, field, { enqueue: () => Promise.reject(new Error('no queue')) });
    await field.submit({ run: 'r1' }, [...urls(110), ...urls(5), 'bad'].join('\n'));
    // The first message comes back as well; the doomed one takes the second.
    await takeInAndDie(t, field, {
      async enqueue(tasks) {
        await queue.enqueue(tasks.slice(0, enqueued));
        // Some are already done when the message comes again.
        await field.settle(tasks.slice(0, Math.min(enqueued, 20)));
        throw new Error('died');
      },
    });
    await field.start();
    await field.untilTakenIn();
    const counts = await field.reader.counts('r1');
    t.match(counts, { accepted: 112, dead: 2, duplicates: 15 }, `${enqueued} were in the queue`);
    const ids = new Set((await field.takeTasks(await field.messages('TASKS'))).map(({ spec }) => spec.id));
    const settled = (await field.recordsOf('r1')).filter(({ state }) => state === 'done');
    for (const { spec } of settled) ids.add(spec.id);
    t.equal(ids.size, 110, 'every task is in the queue or done');
  }
});

t.test('a coordinator that sleeps past its lease changes nothing when it wakes', async (t) => {
  for (const believes of [undefined, true]) {
    const field = await openField(t, await startNatsServer(t), { leaseMs });
    await field.submit({ run: 'r1' }, [...urls(50), ...urls(20)].join('\n'));
    const queued: number[] = [];
    const result = await takeInAndDie(t, field, {
      async beforeCount() {
        const successor = await field.start();
        await field.untilTakenIn();
        await field.settle((await field.takeTasks(50)).slice(0, 30));
        await successor.stop();
      },
      async enqueue(tasks) {
        queued.push(tasks.length);
      },
      ...(believes !== undefined && { believes }),
    });
    t.equal(result, believes ? 'taken' : 'lapsed');
    t.same(queued, believes ? [50] : [], 'one that knows lets the queue alone');
    t.match(
      await field.reader.counts('r1'),
      { accepted: 50, duplicates: 20, done: 30 },
      believes ? 'a clock that is wrong does not double a count' : 'the clock tells',
    );
  }
});

t.test('nothing is taken in while the queue is full, and nothing is lost', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start({ limits: { watermark: 100, watermarkEveryMs: 20 } });
  for (let n = 0; n < 10; n += 1) await field.submit({}, urls(50, `w${n}`).join('\n'));
  await until(async () => (await field.messages('TASKS')) >= 100);
  t.ok((await field.messages('INTAKE')) >= 6, 'the rest waits in the intake');
  const ids = new Set<string>();
  while (ids.size < 500) {
    const tasks = await field.takeTasks(50);
    for (const { spec } of tasks) ids.add(spec.id);
    const size = await field.messages('TASKS');
    t.ok(size < 150, `${size} tasks in the queue`);
  }
  await field.untilTakenIn();
  t.match(await field.reader.counts('default-shop'), { accepted: 500, duplicates: 0 });
});

t.test('a full ledger keeps the message in the intake', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  const { jsm } = field.connection;
  const { config } = await jsm.streams.info('LEDGER');
  await jsm.streams.update('LEDGER', { ...config, max_bytes: 4_000 });
  await field.start();
  await field.submit({}, urls(200).join('\n'));
  await until(async () => (await jsm.consumers.info('INTAKE', 'coordinator')).delivered.consumer_seq >= 2);
  t.equal(await field.messages('INTAKE'), 1);
  await jsm.streams.update('LEDGER', { ...config });
  await field.takeTasks(200);
  await field.untilTakenIn();
  t.match(await field.reader.counts('default-shop'), { accepted: 200, duplicates: 0 });
});

t.test('two coordinators share the work, and submit answers with what the ledger says', async (t) => {
  const field = await openField(t, await startNatsServer(t));
  await field.start({ id: 'c1' });
  await field.start({ id: 'c2' });
  for (let n = 0; n < 40; n += 1) await field.submit({}, urls(50, `m${n % 20}`).join('\n'));
  await field.takeTasks(1_000);
  await field.untilTakenIn();
  t.match(await field.reader.counts('default-shop'), { accepted: 1_000, duplicates: 1_000 });

  const one = { scraper: 'shop', url: 'https://shop.test/single', color: 'blue' };
  const answers = await Promise.all([field.services.call('submit', one), field.services.call('submit', one)]);
  const told = answers as { id: string; duplicate: boolean; run: string }[];
  t.same(told.map(({ duplicate }) => duplicate).sort(), [false, true], 'exactly one of them was new');
  t.equal(told[0]?.id, told[1]?.id);
  const [task] = await field.takeTasks(1);
  t.same(task?.spec.input, { color: 'blue' });
  t.match(
    await field.services.call('submit', {
      scraper: 'shop',
      run: 'r9',
      priority: 3,
      tasks: ['https://shop.test/1', 'https://shop.test/1', 5, { key: 'k' }],
    }),
    {
      run: 'r9',
      tasks: [{ duplicate: false }, { duplicate: true }, { duplicate: false }],
      problems: [{ index: 2 }],
    },
  );
  t.equal((await field.takeTasks(2, { priority: 3 })).length, 2);
  await t.rejects(field.services.call('submit', { scraper: 'shop', url: 'nowhere' }), { code: 'INVALID' });
  await field.untilTakenIn();
  t.match(await field.reader.counts('r9'), { accepted: 2, duplicates: 1, dead: 0 });
});
