/**
 * Pages: fetch one of 10 KB, take 5 fields and 20 items of 5 fields out of it by CSS, store them. Trawl as it is used: a
 * template, submitted as a run, with leave of the proxy-manager, each outcome in the ledger.
 *
 *   node dist/test/bench/fetch.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Teardown } from '../kit/nats-server.ts';
import { createTaskId } from '../../src/domain/task-id.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { ITEMS_PER_PAGE, startCrawlers, takePages } from './harness/fetch-peers.ts';
import { names, untilDone, untilQueueEmpty } from './harness/ledger-check.ts';
import { startPeer } from './harness/peer.ts';
import { openBench, target } from './harness/report.ts';
import { HEADINGS, measureTeam, ratioOf, runRounds, tableOf, type Contestant } from './harness/rounds.ts';
import { checkShipped, natsVersion } from './harness/shipped.ts';
import { startTrawl, SYNCS, type SyncName, type TrawlTeam } from './harness/trawl-team.ts';
import { productsTemplate } from './harness/products-template.ts';
import { withTeardown, type Stage } from './stage.ts';

const bench = openBench('fetch');
const AT_ONCE = 50;
const COUNTS: Readonly<Record<string, number>> = {
  ours: bench.size(10_000, 100),
  bare: bench.size(20_000, 100),
  CheerioCrawler: bench.size(400, 20),
  'HttpCrawler, unparsed': bench.size(700, 20),
  'CheerioCrawler × 2': bench.size(300, 20),
  Scrapy: bench.size(500, 20),
  'Scrapy, unparsed': bench.size(1_000, 20),
  'Scrapy × 2': bench.size(400, 20),
};
const countOf = (name: string): number => COUNTS[name] ?? 0;
const ONE = 'trawl, 1 worker';
const TWO = 'trawl, 2 workers';
const ALWAYS = 'trawl, 1 worker, always';
const BARE = 'bare undici + same parser';

await withTeardown(async (t) => {
  const site = await startPeer(t, join(import.meta.dirname, 'harness/site.js'), {});
  const { port, bytes } = await site.call<{ port: number; bytes: number }>('where');
  const url = `http://127.0.0.1:${port}`;
  const teams = {
    [ONE]: await start(t, 'second', { port, workers: 1 }),
    [ALWAYS]: await start(t, 'always', { port, workers: 1 }),
    [TWO]: await start(t, 'second', { port, workers: 2 }),
  };
  const crawlers = await startCrawlers({ t, site: url, atOnce: AT_ONCE, count: countOf });
  const contestants = [
    ...Object.entries(teams).map(([name, team]) => own(name, team, port)),
    await bare(t, url),
    ...crawlers.contestants,
  ];
  const rows = await runRounds(contestants, bench);
  const checks: string[] = [];
  for (const [name, { stage }] of Object.entries(teams))
    checks.push(`${name}: ${await checkShipped(stage, ['durability', 'worker.concurrency'])}`);
  checks.push(
    'every page has exactly one outcome, after every round, by the counters of the ledger; 20 of them have all fields and 20 items',
  );
  const ratio = (ours: string, theirs: string): number => ratioOf(rows, ours, theirs);
  bench.finish({
    tables: [
      { title: `pages of ${Math.round(bytes / 1_000)} KB`, head: HEADINGS, rows: tableOf(rows, contestants) },
    ],
    targets: [
      target('one process, × CheerioCrawler', ratio(ONE, 'CheerioCrawler'), { min: 6 }),
      target('one process, × Scrapy', ratio(ONE, 'Scrapy'), { min: 8 }),
      target('the machine, × CheerioCrawler', ratio(TWO, 'CheerioCrawler × 2'), { min: 10 }),
      target('the machine, × Scrapy', ratio(TWO, 'Scrapy × 2'), { min: 10 }),
      target('share of the bare loop', ratio(ONE, BARE), { min: 0.7 }),
    ],
    absent: crawlers.absent,
    checks,
    versions: { ...natsVersion(teams[ONE].stage), ...crawlers.versions },
    settings: {
      all: `${AT_ONCE} requests at once; the site is a process of its own, on the same machine, and is not counted`,
      trawl: `coordinator, proxy-manager, worker.concurrency ${AT_ONCE}; from the first submission to the last outcome; shipped settings else`,
      crawlee:
        'minConcurrency = maxConcurrency, no session pool, no retries; requests are in the queue before the clock starts; dataset on disk',
      scrapy:
        'no delay, no robots.txt, no retries; the clock starts when the spider opens; JSON lines on disk',
      bare: 'keeps nothing',
      '× 2': 'two processes, each with a list of its own',
    },
    rows,
  });
});

function start(
  t: Teardown,
  name: SyncName,
  { port, workers }: { port: number; workers: number },
): Promise<TrawlTeam> {
  return startTrawl(t, name, {
    workers,
    withManager: true,
    settings: {
      TRAWL_FETCH_ALLOW_LOOPBACK: `127.0.0.1:${port}`,
      TRAWL_WORKER_CONCURRENCY: String(AT_ONCE),
    },
    prepare: ({ home }) => writeFileSync(join(home, 'products.yaml'), productsTemplate()),
  });
}

function own(name: string, team: TrawlTeam, port: number): Contestant {
  const { stage, user } = team;
  const reader = createLedgerReader(stage.connection, names);
  return {
    name,
    durability: name === ALWAYS ? SYNCS.always.safe : SYNCS.second.safe,
    async run(round) {
      const run = `pages-${round + 1}`;
      const count = countOf('ours');
      const from = takePages(count);
      const pattern = `http://127.0.0.1:${port}/product/*`;
      const sample = await measureTeam(team, async () => {
        const job = { scraper: 'products', run, count, from, pattern };
        await Promise.all([user.call('produce', job), untilDone(stage, run, count)]);
        return { count };
      });
      const { items } = await reader.counts(run);
      // The template emits one record per page, with its items in it.
      if (items !== count) throw new Error(`${name}: ${items} records of ${count} pages`);
      await checkSome(stage, run, (n) => pattern.replace('*', String(from + n)));
      await untilQueueEmpty(stage);
      return sample;
    },
  };
}

/** Looks into the first few. */
async function checkSome(stage: Stage, run: string, urlOf: (n: number) => string): Promise<void> {
  const ids = Array.from({ length: 20 }, (_, n) => createTaskId({ scraper: 'products', url: urlOf(n) }));
  const found = await createLedgerReader(stage.connection, names).readMany(run, ids);
  for (const id of ids) {
    const record = found.get(id)?.record;
    const [item] = record?.state === 'done' ? record.result.items : [];
    const { data } = item as { data?: { name?: string; items?: readonly object[] } };
    if (data?.items?.length !== ITEMS_PER_PAGE || !data.name)
      throw new Error(`an incomplete page: ${JSON.stringify(item)}`);
  }
}

async function bare(t: Teardown, site: string): Promise<Contestant> {
  const loop = await startPeer(t, join(import.meta.dirname, 'harness/bare-fetch.js'), {
    site,
    atOnce: AT_ONCE,
  });
  const team = { clients: () => [loop.pid], servers: () => [] };
  return {
    name: BARE,
    durability: 'keeps nothing',
    run: () =>
      measureTeam(team, async () => {
        const count = countOf('bare');
        const job = { from: takePages(count), count };
        const { ms, items } = await loop.call<{ ms: number; items: number }>('run', job);
        if (items !== count * ITEMS_PER_PAGE) throw new Error(`${BARE}: ${items} items`);
        return { count, ms };
      }),
  };
}
