/** Page budgets are exact over all workers and coordinators, whoever dies. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { eraseRun } from '../../src/nats/erase-run.ts';
import { createPageBudgets } from '../../src/nats/page-budget.ts';
import { names, openField, type Field } from '../kit/coordinators.ts';
import { QUICK_TTL } from '../kit/leader-ttl.ts';
import { guard, quietLog, startNatsServer, type Teardown, type TestServer } from '../kit/nats-server.ts';

const leaseMs = 1_500;
const PAGES = 600;
const LINKS = 25;

interface Site {
  /** Addresses that were fetched, with their hosts. */
  readonly fetched: Set<string>;
  /** Page `n` under one of the two names of the site. */
  pageAt(n: number): string;
}

/** Each page has far more links than a budget allows, most of them to pages that others link to as well. */
async function openSite(t: Teardown): Promise<Site> {
  const fetched = new Set<string>();
  const pageAt = (n: number): string => {
    const { port } = server.address() as AddressInfo;
    return `http://${n % 2 === 0 ? '127.0.0.1' : 'localhost'}:${port}/${n}`;
  };
  const server = createServer(({ url = '', headers }, response) => {
    fetched.add(`http://${headers.host ?? ''}${url}`);
    const n = Number(url.slice(1));
    const links = Array.from({ length: LINKS }, (_, i) => pageAt((n * 7 + i * i) % PAGES));
    response.end(JSON.stringify([pageAt(0), pageAt(1), ...links]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return { fetched, pageAt };
}

function startCrawler(t: Teardown, server: TestServer, worker: string): ChildProcess {
  const program = join(import.meta.dirname, '../kit/crawl-process.js');
  const child = spawn(process.execPath, [program, server.url, worker, String(leaseMs)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  guard(child);
  t.teardown(() => void child.kill('SIGKILL'));
  return child;
}

async function untilDone(field: Field, run: string, least: number): Promise<void> {
  while ((await field.reader.counts(run)).done < least) await delay(10);
}

/** Two workers and two coordinators, of which one each is killed half way. */
async function crawl(t: Teardown, scraper: string): Promise<{ field: Field; site: Site }> {
  const site = await openSite(t);
  const server = await startNatsServer(t);
  const field = await openField(t, server, { leaseMs });
  const doomed = await field.start({ id: 'doomed', leaderTtl: QUICK_TTL });
  await field.start({ id: 'heir', leaderTtl: QUICK_TTL });
  const starts = [0, 1].map((n) => ({ url: site.pageAt(n) }));
  await field.services.call('run.create', { scraper, run: 'crawl' });
  await field.submit({ scraper, run: 'crawl' }, JSON.stringify(starts));
  await field.services.call('run.seal', { run: 'crawl', messages: 1 });
  const victim = startCrawler(t, server, 'victim');
  startCrawler(t, server, 'survivor');
  await untilDone(field, 'crawl', 5);
  victim.kill('SIGKILL');
  await doomed.kill();
  const isOver = (state: string): boolean => state !== 'active' && state !== 'queued';
  const { state } = await field.untilRun('crawl', (run) => isOver(run.state), 60_000);
  if (state !== 'done') throw new Error(`the run ended as ${state}`);
  return { field, site };
}

t.test('pages of a run, by two workers, one of them killed', { timeout: 90_000 }, async (t) => {
  const { field, site } = await crawl(t, 'site');
  t.equal(site.fetched.size, 2 + 60, 'where it started, and as many as the budget says');
  t.match(await field.reader.counts('crawl'), { accepted: 62, done: 62, dead: 0, items: 62 });

  await eraseRun(field.connection, { names, bucket: field.bucket }, 'crawl');
  const left = await field.connection.jsm.streams.info('LEDGER', { subjects_filter: 'trawl.page.>' });
  t.same(left.state.subjects ?? {}, {}, 'what was granted is forgotten with the run');
});

t.test('pages of each host', { timeout: 90_000 }, async (t) => {
  const { field, site } = await crawl(t, 'hosts');
  const at = (host: string): number => [...site.fetched].filter((url) => url.includes(host)).length;
  t.same([at('127.0.0.1'), at('localhost')], [1 + 20, 1 + 20], 'the page it started with, and twenty');
  t.match(await field.reader.counts('crawl'), { accepted: 42, done: 42, dead: 0 });
});

t.test('many who ask at the same time, and ask again', { timeout: 60_000 }, async (t) => {
  const server = await startNatsServer(t);
  await openField(t, server);
  const askers = await Promise.all(
    [1, 2, 3].map(async (n) => {
      const connection = await server.connect(`asker-${n}`);
      return createPageBudgets(connection, { names, ackTimeoutMs: 5_000, log: quietLog });
    }),
  );
  t.teardown(() => askers.forEach((asker) => asker.close()));
  const budget = { scope: 'shop', pagesPerRun: 1_000, pagesPerHost: 700 };
  const claims = Array.from({ length: 30 }, (_, n) => ({
    ...{ run: 'r', budget },
    // More than fit into one write, and every page is asked for by several.
    pages: Array.from({ length: 450 }, (_unused, i) => {
      const page = (n * 97 + i * 3) % 2_000;
      return { id: `page-${page}`, host: page % 3 === 0 ? 'small.example' : 'large.example:8080' };
    }),
  }));
  const ask = async (): Promise<Set<string>> => {
    const all = await Promise.all(
      claims.map(async (claim, n) => [...((await askers[n % 3]?.claim(claim)) ?? [])]),
    );
    return new Set(all.flat());
  };
  const held = await ask();
  t.equal(held.size, 1_000, 'exactly as many as there are');
  const large = [...held].filter((id) => Number(id.slice(5)) % 3 !== 0).length;
  t.ok(large <= 700, `${large} at one host`);
  t.same(await ask(), held, 'whoever has a place keeps it, and nobody gets another one');
  const other = await askers[0]?.claim({ run: 'r2', budget, pages: [{ id: 'page-1', host: 'a' }] });
  t.same([...(other ?? [])], ['page-1'], 'another run has a budget of its own');
});
