/** The client for programs, on a real server, with a coordinator that answers as agreed. */
import t from 'tap';
import { connectTrawl } from '../../src/client/connect-trawl.ts';
import type { Client } from '../../src/client/client.ts';
import type { Task } from '../../src/client/pack-tasks.ts';
import type { TaskOutcome } from '../../src/client/results.ts';
import type { SubmitProgress } from '../../src/client/submit-stream.ts';
import { Failure } from '../../src/domain/failure.ts';
import { parseSubmission } from '../../src/wire/submission.ts';
import { SUBMISSION_LIMITS } from '../../src/wire/submission-fields.ts';
import { startNatsServer, type Teardown } from '../kit/nats-server.ts';
import { counts, recordOf, startStubCoordinator } from '../kit/stub-coordinator.ts';

const server = await startNatsServer(t);
const stub = await startStubCoordinator(t, server);
const { jsm } = stub.connection;

async function connect(t: Teardown): Promise<Client> {
  const client = await connectTrawl({ servers: server.url });
  t.teardown(() => client.close());
  return client;
}

async function collect(results: AsyncIterable<TaskOutcome>): Promise<TaskOutcome[]> {
  const all: TaskOutcome[] = [];
  for await (const outcome of results) all.push(outcome);
  return all;
}

t.test('submit tells of each task what became of it', async (t) => {
  const client = await connect(t);
  stub.on('submit', ({ run, tasks }) => {
    const list = tasks as Task[];
    const good = list.filter((task) => task !== 'nonsense');
    return {
      run: run ?? 'default-prices',
      tasks: good.map((_, index) => ({ id: `id${index}`, duplicate: index > 0 })),
      problems: list.flatMap((task, index) => (task === 'nonsense' ? [{ index, reason: 'not a URL' }] : [])),
    };
  });
  t.same(await client.submit('prices', 'https://a.example/'), {
    run: 'default-prices',
    tasks: [{ id: 'id0', duplicate: false }],
    problems: [],
  });
  const many = Array.from({ length: 2_500 }, (_, i) => (i === 2_400 ? 'nonsense' : `https://a.example/${i}`));
  const before = stub.asked.length;
  const submitted = await client.submit('prices', many, { run: 'friday', priority: 7, dropTracking: true });
  t.equal(submitted.tasks.length, 2_499);
  t.same(submitted.problems, [{ index: 2_400, reason: 'not a URL' }], 'places count over all requests');
  const requests = stub.asked.slice(before);
  t.equal(requests.length, 3);
  t.match(requests[0]?.body, { scraper: 'prices', run: 'friday', priority: 7, dropTracking: true });

  await t.rejects(async () => client.submit('no dots.', 'https://a.example/'), { code: 'INVALID' });
  stub.on('submit', () => {
    throw new Failure('REJECTED', 'the run is over', { hint: 'take another' });
  });
  await t.rejects(client.submit('prices', 'https://a.example/', { run: 'old' }), {
    code: 'REJECTED',
    message: 'the run is over',
    hint: 'take another',
  });
});

t.test('run streams what an iterable yields, and seals it', async (t) => {
  const client = await connect(t);
  async function* tasks(): AsyncGenerator<Task, void, undefined> {
    for (let i = 0; i < 2_500; i += 1) yield `https://a.example/${i}`;
    yield { url: 'https://a.example/x', depth: 2 };
    yield '[odd';
  }
  const options = { run: 'streamed', priority: 4, dropTracking: true };
  const { run, enqueued } = await client.run('prices', tasks(), options);
  t.equal(run, 'streamed');
  t.equal(enqueued, 2_502);
  t.match(stub.asked.at(-1), { verb: 'run.seal', body: { run: 'streamed', messages: 3 } });

  const found: { requests: number; problems: number } = { requests: 0, problems: 0 };
  for (const seq of [1, 2, 3]) {
    const message = await jsm.streams.getMessage('INTAKE', { seq });
    t.equal(message?.subject, 'trawl.submit.prices.streamed');
    t.equal(message?.header.get('Trawl-Priority'), '4');
    t.equal(message?.header.get('Trawl-Drop-Tracking'), 'true');
    const parsed = parseSubmission({
      subject: { scraper: 'prices', run: 'streamed' },
      headers: () => undefined,
      data: message?.data ?? new Uint8Array(),
      now: Date.now(),
      limits: SUBMISSION_LIMITS,
    });
    found.requests += parsed.requests.length;
    found.problems += parsed.problems.length;
  }
  t.same(
    found,
    { requests: 2_501, problems: 1 },
    'the coordinator reads them all; what is odd costs only itself',
  );
  await jsm.streams.purge('INTAKE');
});

t.test('a task that is too big is named', async (t) => {
  const client = await connect(t);
  const tasks: Task[] = ['https://a.example/', { url: 'https://a.example/big', body: 'x'.repeat(300_000) }];
  await t.rejects(client.run('prices', tasks, { run: 'big' }), {
    code: 'INVALID',
    message: /^run big: task 2 \(\{"url":"https:\/\/a\.example\/big".*has 3000\d\d bytes: at most 262144$/,
  });
});

t.test('a run that has ended takes no more, and one that is open adds up', async (t) => {
  const client = await connect(t);
  const create = (fields: object): void =>
    stub.on('run.create', ({ run, scraper }) => ({
      ...{ id: run, scraper, state: 'active', priority: 0, createdAt: 1, standing: false, ...fields },
    }));
  create({ state: 'done' });
  await t.rejects(client.run('prices', ['https://a.example/'], { run: 'over' }), {
    code: 'CONFLICT',
    message: 'run over has ended (done)',
  });
  await stub.putRun({ id: 'again' });
  create({ taken: 3, sealed: { messages: 4 } });
  await client.run('prices', ['https://a.example/'], { run: 'again' });
  t.match(stub.asked.at(-1), { verb: 'run.seal', body: { run: 'again', messages: 5 } });
  create({});
});

t.test('a full intake is waited for, then it is an error', async (t) => {
  const client = await connect(t);
  const { config } = await jsm.streams.info('INTAKE');
  t.teardown(() => jsm.streams.update('INTAKE', { ...config, max_bytes: config.max_bytes }));
  await jsm.streams.purge('INTAKE');
  await jsm.streams.update('INTAKE', { ...config, max_bytes: 300_000 });
  await stub.putRun({ id: 'full' });
  const tasks = Array.from({ length: 20_000 }, (_, i) => `https://a.example/a-rather-long-path/${i}`);

  await t.rejects(client.run('prices', tasks, { run: 'full', patienceMs: 300 }), {
    code: 'THROTTLED',
    message: /^run full: the intake takes no more tasks \(.*\); \d+ tasks are stored$/,
    hint: /trawl status.*max_bytes.*same run/,
  });

  const notes: SubmitProgress[] = [];
  const { enqueued } = await client.run('prices', tasks, {
    run: 'full',
    patienceMs: 20_000,
    onProgress(progress) {
      notes.push(progress);
      // Somebody takes in what is there.
      if (progress.waiting) void jsm.streams.purge('INTAKE');
    },
  });
  t.equal(enqueued, 20_000);
  t.ok(
    notes.some(({ waiting }) => waiting),
    'it told that it waits',
  );
});

t.test('results tells each settled task, the dead ones too, and ends with the run', async (t) => {
  const client = await connect(t);
  await stub.putRun({ id: 'r1' });
  await stub.write(
    'r1',
    ['a', 'b', 'c', 'd'].map((id) => recordOf(id, 'r1', 'queued')),
  );
  await stub.write('r1', [recordOf('a', 'r1', { items: [{ price: 1 }, { price: 2 }] })]);
  await stub.write('other', [recordOf('z', 'other', { items: [1] })]);

  const seen: TaskOutcome[] = [];
  for await (const outcome of client.results('r1', { timeoutMs: 20_000 })) {
    seen.push(outcome);
    // The next ones settle while somebody already reads.
    if (outcome.id === 'a') await stub.write('r1', [recordOf('b', 'r1', { error: 'too slow' })]);
    if (outcome.id === 'b') {
      await stub.write('r1', [
        recordOf('c', 'r1', { cancelled: 'enough' }),
        recordOf('d', 'r1', { data: 7 }),
      ]);
      await stub.putRun({ id: 'r1', state: 'done_with_errors', endedAt: Date.now() });
    }
  }
  t.same(
    seen.map(({ id, state }) => [id, state]),
    [
      ['a', 'done'],
      ['b', 'dead'],
      ['c', 'cancelled'],
      ['d', 'done'],
    ],
  );
  t.match(seen[0], { url: 'https://shop.example/a', items: [{ price: 1 }, { price: 2 }], run: 'r1' });
  t.match(seen[1], { items: [], error: { code: 'TIMEOUT', message: 'too slow' } });
  t.match(seen[2]?.error, { code: 'CANCELLED', message: 'enough' });
  t.equal(seen[3]?.data, 7);
  t.equal((await collect(client.results('r1'))).length, 4, 'the same once more, of a run that is over');
});

t.test('results ends when the run ends after everything has been told', async (t) => {
  const client = await connect(t);
  await stub.putRun({ id: 'r2' });
  await stub.write('r2', [recordOf('a', 'r2', { items: [1] })]);
  const results = client.results('r2', { timeoutMs: 20_000 });
  t.match(await results.next(), { value: { id: 'a' } });
  const end = results.next();
  await stub.putRun({ id: 'r2', state: 'done', endedAt: Date.now() });
  t.same(await end, { done: true, value: undefined });
});

t.test('results of a cancelled run ends when all of its tasks are', async (t) => {
  const client = await connect(t);
  await stub.putRun({ id: 'stopped', state: 'cancelled' });
  const results = client.results('stopped', { timeoutMs: 20_000 });
  const first = results.next();
  await stub.write('stopped', [recordOf('a', 'stopped', { cancelled: 'enough' })]);
  t.match(await first, { value: { id: 'a', state: 'cancelled' } });
  const end = results.next();
  await stub.putRun({ id: 'stopped', state: 'cancelled', final: counts({ total: 1, cancelled: 1 }) });
  t.same(await end, { done: true, value: undefined });
});

t.test('results of a run without tasks, of no run, and of one that takes too long', async (t) => {
  const client = await connect(t);
  await stub.putRun({ id: 'empty', state: 'done' });
  t.same(await collect(client.results('empty', { timeoutMs: 20_000 })), []);
  await t.rejects(collect(client.results('nowhere')), {
    code: 'INVALID',
    message: 'there is no run nowhere',
  });

  await stub.putRun({ id: 'slow' });
  await stub.write('slow', [recordOf('a', 'slow', { items: [1] })]);
  const seen: string[] = [];
  await t.rejects(
    async () => {
      for await (const { id } of client.results('slow', { timeoutMs: 400 })) seen.push(id);
    },
    { code: 'TIMEOUT', message: /run slow has not ended within 400 ms/ },
  );
  t.same(seen, ['a'], 'what was there was told');
  t.equal((await collect(client.results('slow', { settledOnly: true }))).length, 1, 'without waiting');
});

t.test('results goes through a restart of the server without a gap or a double', async (t) => {
  const client = await connect(t);
  await stub.putRun({ id: 'r3' });
  const records = (from: number): ReturnType<typeof recordOf>[] =>
    Array.from({ length: 1_500 }, (_, i) => recordOf(`t${from + i}`, 'r3', { items: [from + i] }));
  await stub.write('r3', records(0));
  const seen: unknown[] = [];
  for await (const { items } of client.results('r3', { timeoutMs: 60_000 })) {
    seen.push(items[0]);
    if (seen.length === 700) {
      await server.kill('SIGKILL');
      await server.start();
    }
    if (seen.length === 1_500) {
      await stub.write('r3', records(1_500));
      await stub.putRun({ id: 'r3', state: 'done' });
    }
  }
  t.equal(seen.length, 3_000);
  t.equal(new Set(seen).size, 3_000);
});

t.test('waitFor resolves with the counts of the ended run', async (t) => {
  const client = await connect(t);
  await stub.putRun({ id: 'r4' });
  await t.rejects(client.waitFor('r4', { timeoutMs: 200 }), { code: 'TIMEOUT' });
  await t.rejects(client.waitFor('nowhere'), { code: 'INVALID' });
  stub.on('run.show', ({ run }) => ({
    ...{ id: run, scraper: 'prices', state: 'done', priority: 0, createdAt: 1, standing: false },
    counts: counts({ total: 5, done: 5 }),
  }));
  const ended = client.waitFor('r4', { timeoutMs: 20_000 });
  await stub.putRun({ id: 'r4', state: 'done' });
  t.match(await ended, { id: 'r4', state: 'done', counts: { total: 5, done: 5 } });
});

t.test('stats, and what a coordinator that is not there or talks nonsense looks like', async (t) => {
  const client = await connect(t);
  stub.on('stats', ({ run }) => ({
    ...counts({ total: run === 'r4' ? 5 : 9 }),
    workers: { active: 1, total: 3 },
  }));
  t.match(await client.stats('r4'), { total: 5, workers: { active: 1, total: 3 } });
  t.match(await client.stats(), { total: 9 });
  stub.on('stats', () => ({ total: 'many' }));
  await t.rejects(client.stats(), { code: 'INTERNAL', message: /cannot be read: total/ });
  const elsewhere = await connectTrawl({ servers: server.url, namespace: 'other' });
  t.teardown(() => elsewhere.close());
  await t.rejects(elsewhere.stats(), { code: 'UNAVAILABLE', message: 'no coordinator answers' });
});
