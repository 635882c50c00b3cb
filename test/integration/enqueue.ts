/** Tasks that lead to tasks: nothing is lost or doubled, whoever dies. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { LedgerRecord } from '../../src/domain/task.ts';
import type { ScraperContext } from '../../src/scrapers/scraper.ts';
import { openField, type Field } from '../kit/coordinators.ts';
import { QUICK_TTL } from '../kit/leader-ttl.ts';
import { guard, startNatsServer, type Teardown, type TestServer } from '../kit/nats-server.ts';
import { startWorker } from '../kit/task-worker.ts';

const leaseMs = 1_500;

function startCrawler(t: Teardown, server: TestServer, worker: string): ChildProcess {
  const program = join(import.meta.dirname, '../kit/crawl-process.js');
  const child = spawn(process.execPath, [program, server.url, worker, String(leaseMs)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  guard(child);
  t.teardown(() => void child.kill('SIGKILL'));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function makeRun(field: Field, run: string, scraper: string, tasks: readonly object[]): Promise<void> {
  await field.services.call('run.create', { scraper, run });
  await field.submit({ scraper, run }, JSON.stringify(tasks));
  await field.services.call('run.seal', { run, messages: 1 });
}

function itemsOf(records: readonly LedgerRecord[]): unknown[] {
  return records.flatMap((record) => (record.state === 'done' ? record.result.items : []));
}

async function untilDone(field: Field, run: string, least: number): Promise<void> {
  for (;;) {
    if ((await field.reader.counts(run)).done >= least) return;
    await delay(10);
  }
}

t.test('workers are killed in the middle of a crawl', { timeout: 120_000 }, async (t) => {
  const server = await startNatsServer(t);
  const field = await openField(t, server, { leaseMs });
  await field.start();
  await makeRun(field, 'crawl', 'tree', [{ key: 'r', input: { levels: 3, width: 6 } }]);
  const total = 1 + 6 + 36 + 216 + 1;
  for (const [index, least] of [5, 60, 150].entries()) {
    const child = startCrawler(t, server, `victim-${index}`);
    await untilDone(field, 'crawl', least);
    await kill(child);
  }
  startCrawler(t, server, 'heir');
  const run = await field.untilRun('crawl', ({ state }) => state !== 'active' && state !== 'queued', 60_000);
  t.equal(run.state, 'done', 'no dead task, and the run has ended by itself');
  const records = await field.recordsOf('crawl');
  t.equal(records.length, total);
  const items = itemsOf(records) as { key: string; depth: number; parent?: string }[];
  t.equal(items.length, total, 'every task has emitted once');
  t.equal(new Set(items.map(({ key }) => key)).size, total);
  t.match(await field.reader.counts('crawl'), { accepted: total, done: total, dead: 0, items: total });
  const ids = new Map(records.map(({ spec }) => [spec.key, spec.id]));
  const wrong = items.filter(({ key, depth, parent }) => {
    const above = key === 'r' ? undefined : ids.get(key.slice(0, key.lastIndexOf('.')));
    return key !== 'shared' && (depth !== key.split('.').length - 1 || parent !== above);
  });
  t.same(wrong, [], 'each is as deep as it is, and knows its parent');
  t.equal(await field.messages('INTAKE'), 0);
});

t.test('two stages, and everything is restarted in between', { timeout: 120_000 }, async (t) => {
  const server = await startNatsServer(t);
  const field = await openField(t, server, { leaseMs });
  const coordinator = await field.start({ id: 'c1', leaderTtl: QUICK_TTL });
  const child = startCrawler(t, server, 'before');
  await makeRun(
    field,
    'pipe',
    'parse',
    Array.from({ length: 20 }, (_, page) => ({ key: `p${page}`, input: { page } })),
  );
  await untilDone(field, 'pipe', 40);
  await kill(child);
  await coordinator.kill();
  await server.kill('SIGKILL');
  await server.start();
  await field.start({ id: 'c2' });
  startCrawler(t, server, 'after');
  const run = await field.untilRun('pipe', ({ state }) => state !== 'active' && state !== 'queued', 60_000);
  t.equal(run.state, 'done');
  const items = itemsOf(await field.recordsOf('pipe')) as { kind: string; data: { n: number } }[];
  const numbers = (kind: string): number[] =>
    items
      .filter((item) => item.kind === kind)
      .map(({ data }) => data.n)
      .sort((a, b) => a - b);
  const all = Array.from({ length: 200 }, (_, n) => n);
  t.same(numbers('raw'), all);
  t.same(numbers('processed'), all, 'each raw item was processed, and once');
});

t.test('the standing run of a scraper takes what its tasks enqueue', { timeout: 60_000 }, async (t) => {
  const server = await startNatsServer(t);
  const field = await openField(t, server, { leaseMs });
  await field.start();
  startCrawler(t, server, 'standing');
  await field.submit({ scraper: 'tree' }, JSON.stringify({ key: 'r', input: { levels: 1, width: 3 } }));
  await untilDone(field, 'default-tree', 5);
  await field.submit({ scraper: 'parse' }, JSON.stringify({ key: 'p', input: { page: 0 } }));
  await untilDone(field, 'default-parse', 11);
  t.match(await field.reader.counts('default-parse'), { done: 11, dead: 0 }, 'another scraper, the same run');
});

t.test('what cannot be stored defers the task, and nothing of it is stored', async (t) => {
  const server = await startNatsServer(t);
  const field = await openField(t, server, { leaseMs: 60_000 });
  await field.start();
  const { jsm } = field.connection;
  const { config } = await jsm.streams.info('INTAKE');
  let runs = 0;
  const scraper = {
    name: 'shop',
    async run({ enqueue, emit }: ScraperContext) {
      runs += 1;
      // The intake is full from now on.
      if (runs === 1) await jsm.streams.update('INTAKE', { ...config, max_bytes: 1 });
      emit({ runs });
      enqueue([{ key: 'next' }]);
    },
  };
  await field.submit({ run: 'full' }, JSON.stringify({ key: 'first' }));
  await field.untilTakenIn();
  startWorker(t, { connection: await server.connect('w'), scrapers: [scraper], limits: { leaseMs: 60_000 } });
  while (runs < 2) await delay(10);
  t.match(await field.reader.counts('full'), { done: 0, dead: 0 });
  await jsm.streams.update('INTAKE', { ...config });
  await untilDone(field, 'full', 1);
  const first = (await field.recordsOf('full')).find(({ spec }) => spec.key === 'first');
  t.match(first, { state: 'done', faults: [] }, 'a deferral is no fault');
});
