/** Other crawlers as contestants: the same pages, the same selectors, what they find on disk. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../../src/project-root.ts';
import { temporaryFolder, type Teardown } from '../../kit/nats-server.ts';
import { EACH, FIELDS, ITEM } from '../parse-wanted.ts';
import { hasPackage, startPeer } from './peer.ts';
import { measureTeam, type Contestant, type Sample } from './rounds.ts';
import { packageVersion } from './versions.ts';

export interface FetchWorld {
  readonly t: Teardown;
  readonly site: string;
  readonly atOnce: number;
  readonly count: (name: string) => number;
}

export interface Crawlers {
  readonly contestants: readonly Contestant[];
  readonly absent: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
}

export const ITEMS_PER_PAGE = 20;
const wanted = { fields: FIELDS, each: EACH, item: ITEM };
let nextPage = 0;

/** Pages are asked for in turn, so that no contestant gets other ones than the others do. */
export function takePages(count: number): number {
  nextPage += count;
  return nextPage - count;
}

export async function startCrawlers(world: FetchWorld): Promise<Crawlers> {
  const contestants: Contestant[] = [];
  const absent: string[] = [];
  const versions: Record<string, string> = {};
  if (hasPackage('@crawlee/cheerio')) {
    versions['crawlee'] = packageVersion('@crawlee/cheerio');
    contestants.push(await crawlee(world, { name: 'CheerioCrawler', kind: 'cheerio', processes: 1 }));
    contestants.push(await crawlee(world, { name: 'HttpCrawler, unparsed', kind: 'http', processes: 1 }));
    contestants.push(await crawlee(world, { name: 'CheerioCrawler × 2', kind: 'cheerio', processes: 2 }));
  } else absent.push('CheerioCrawler, HttpCrawler: crawlee is not installed in test/bench');
  const python = findScrapy();
  if (python !== undefined) {
    const names = spawnSync(python, ['-c', 'import scrapy; print(scrapy.__version__)'], { encoding: 'utf8' });
    versions['scrapy'] = names.stdout.trim();
    contestants.push(scrapy(world, python, { name: 'Scrapy', parse: true, processes: 1 }));
    contestants.push(scrapy(world, python, { name: 'Scrapy, unparsed', parse: false, processes: 1 }));
    contestants.push(scrapy(world, python, { name: 'Scrapy × 2', parse: true, processes: 2 }));
  } else absent.push('Scrapy: no Python to be had that holds it');
  return { contestants, absent, versions };
}

async function crawlee(
  { t, site, atOnce, count }: FetchWorld,
  { name, kind, processes }: { name: string; kind: 'cheerio' | 'http'; processes: number },
): Promise<Contestant> {
  const folder = temporaryFolder(t);
  const settings = { kind, site, atOnce, folder, wanted };
  const peers = await Promise.all(
    Array.from({ length: processes }, () => startPeer(t, 'crawlee.mjs', settings)),
  );
  const team = { clients: () => peers.map(({ pid }) => pid), servers: () => [] };
  return {
    name,
    durability: 'files, no fsync',
    run: () =>
      measureTeam(team, async () => {
        const each = count(name);
        const done = await Promise.all(
          peers.map((peer) =>
            peer.call<{ ms: number; items: number }>('run', { from: takePages(each), count: each }),
          ),
        );
        const items = done.reduce((sum, one) => sum + one.items, 0);
        const found = kind === 'cheerio' ? ITEMS_PER_PAGE : 1;
        if (items !== each * processes * found) throw new Error(`${name} found ${items} items`);
        return { count: each * processes, ms: Math.max(...done.map(({ ms }) => ms)) };
      }),
  };
}

interface Crawled {
  readonly pages: number;
  readonly items: number;
  readonly stored: number;
  readonly ms: number;
  readonly cpuUs: number;
  readonly rssMb: number;
}

function findScrapy(): string | undefined {
  if (process.env['PEERS'] === 'no') return undefined;
  const found = spawnSync('/bin/sh', [join(projectRoot, 'test/bench/get-scrapy.sh')], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

/** A crawl of Scrapy is a process: its own clock begins when the spider has opened. */
function scrapy(
  { t, site, atOnce, count }: FetchWorld,
  python: string,
  { name, parse, processes }: { name: string; parse: boolean; processes: number },
): Contestant {
  const folder = temporaryFolder(t);
  return {
    name,
    durability: 'a file, no fsync',
    async run(): Promise<Sample> {
      const each = count(name);
      const crawls = await Promise.all(
        Array.from({ length: processes }, (_, number) => {
          const job = { site, atOnce, parse, wanted, from: takePages(each), count: each };
          return crawl(python, { ...job, file: join(folder, `${number}.jsonl`) });
        }),
      );
      const sum = (value: (one: Crawled) => number): number =>
        crawls.reduce((all, one) => all + value(one), 0);
      const pages = each * processes;
      if (
        sum(({ stored }) => stored) !== pages ||
        (parse && sum(({ items }) => items) !== pages * ITEMS_PER_PAGE)
      )
        throw new Error(`${name}: ${JSON.stringify(crawls)}`);
      return {
        count: pages,
        ms: Math.max(...crawls.map(({ ms }) => ms)),
        clientCpuUs: sum(({ cpuUs }) => cpuUs),
        serverCpuUs: 0,
        clientMb: sum(({ rssMb }) => rssMb),
        serverMb: 0,
      };
    },
  };
}

async function crawl(python: string, job: object): Promise<Crawled> {
  const spider = join(projectRoot, 'test/bench/peers/scrapy_spider.py');
  const child = spawn(python, [spider, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(said) as Crawled;
}
