/**
 * The fetches of the egress bench, as a process of its own, like a worker: the same pages of the same site, directly and
 * through the proxies, by the bare engine, by `fetch` where everything is allowed without a question, and by `fetch`
 * with leave of the manager. Rounds of all kinds in turn; says the rates as JSON.
 */
import { Registry } from 'prom-client';
import { assembleFetchParts, createClusterFetcher } from '../../src/cluster/create-fetcher.ts';
import { loadConfig } from '../../src/config/load.ts';
import { DIRECT } from '../../src/domain/egress.ts';
import { parseProxyAddress } from '../../src/domain/proxy-address.ts';
import { createFetcher, type Fetcher } from '../../src/fetch/fetcher.ts';
import type { EgressPort } from '../../src/fetch/lease-ports.ts';
import { createProfiles } from '../../src/fetch/profiles.ts';
import { createHttpEngine } from '../../src/http/engine.ts';
import { connectNats } from '../../src/nats/connect.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { createNames } from '../../src/wire/names.ts';
import { createSeal } from '../../src/wire/sealed.ts';
import { quietLog } from '../kit/nats-server.ts';

export interface FetchJob {
  readonly nats: string;
  readonly site: string;
  readonly proxies: readonly string[];
  readonly pages: number;
  readonly rounds: number;
  readonly atOnce: number;
}

/** Pages per second, by kind and round. */
export type FetchRates = Readonly<
  Record<`${'engine' | 'fetch' | 'managed'}${'Direct' | 'Proxies'}`, readonly number[]>
>;

const job = JSON.parse(process.argv[2] ?? '') as FetchJob;
const { config } = loadConfig({
  flags: {
    'nats.url': job.nats,
    'fetch.allowLoopback': new URL(job.site).host,
    'fetch.robots': 'false',
    'fetch.poolsMax': '200',
  },
  env: {},
  cwd: '/',
});
const connection = await connectNats({
  access: { url: [job.nats] },
  name: 'fetches',
  log: quietLog,
  whenUnreachable: 'fail',
});
const fetcher = createClusterFetcher({
  config,
  connection,
  names: createNames('trawl'),
  id: 'fetches',
  log: quietLog,
  registry: new Registry(),
});
const engine = createHttpEngine({
  allowLoopback: [new URL(job.site).host],
  poolsMax: 200,
  connectionsPerOrigin: config.fetch.connectionsMax,
});
const profiles = createProfiles(config.fetch.userAgent);
const addresses = job.proxies.map((url, n) => ({ id: `bare-${n}`, address: parseProxyAddress(url) }));
const forever = new AbortController().signal;
const scraper = (via: 'direct' | 'proxy'): Scraper => ({
  name: via,
  egress: { via },
  run: () => Promise.resolve(),
});

const scrapers = { direct: scraper('direct'), proxy: scraper('proxy') };
const free = createFetcher(() =>
  assembleFetchParts({
    ...{ config, profiles, engine, id: 'free', log: quietLog, port: createOpenPort(job.proxies) },
    meter: { fetched: () => undefined },
  }),
);

const kinds = {
  engineDirect: (n: number) => sendBare(n, { id: DIRECT }),
  fetchDirect: (n: number) => fetchOne(free, n, scrapers.direct),
  managedDirect: (n: number) => fetchOne(fetcher, n, scrapers.direct),
  engineProxies: (n: number) => sendBare(n, addresses[n % addresses.length] ?? { id: DIRECT }),
  fetchProxies: (n: number) => fetchOne(free, n, scrapers.proxy),
  managedProxies: (n: number) => fetchOne(fetcher, n, scrapers.proxy),
};
const rates = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, [] as number[]]));
for (let round = 0; round <= job.rounds; round += 1)
  for (const [kind, fetch] of Object.entries(kinds)) {
    const perSecond = await measure(fetch);
    // The first one warms up.
    if (round > 0) rates[kind]?.push(perSecond);
  }
await fetcher.close();
await free.close();
await connection.close();
process.stdout.write(`${JSON.stringify(rates)}\n`);

async function measure(fetch: (n: number) => Promise<void>): Promise<number> {
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: job.atOnce }, async () => {
      while (next < job.pages) await fetch(next++);
    }),
  );
  return (job.pages / (performance.now() - began)) * 1_000;
}

function urlOf(n: number): URL {
  return new URL(`${job.site}/product/${(n % 500) + 1}`);
}

async function sendBare(n: number, egress: Parameters<typeof engine.send>[0]['egress']): Promise<void> {
  const url = urlOf(n);
  const { fetch } = config;
  const { status } = await engine.send(
    {
      url,
      method: 'GET',
      headers: profiles.headers(fetch.profile, url, []),
      egress,
      timeouts: {
        connectMs: fetch.connectTimeout,
        headersMs: fetch.headersTimeout,
        bodyMs: fetch.bodyTimeout,
        totalMs: fetch.timeout,
      },
      maxBytes: fetch.maxBytes,
      http2: fetch.http2,
    },
    forever,
  );
  if (status !== 200) throw new Error(`status ${status}`);
}

/** Like an attempt of a task that fetches one page. */
async function fetchOne(from: Fetcher, n: number, by: Scraper): Promise<void> {
  const spec = { id: `t${n}`, run: 'bench', scraper: by.name, priority: 5 as const, createdAt: 0 };
  const attempt = from.open({ task: { spec, triedProxies: [] }, scraper: by, life: new AbortController() });
  try {
    const { status } = await attempt.fetch(urlOf(n));
    if (status !== 200) throw new Error(`status ${status}`);
  } finally {
    attempt.close();
  }
}

/** Grants everything at once, and wants to hear nothing: what is left is what `fetch` itself costs. */
function createOpenPort(proxies: readonly string[]): EgressPort {
  const seal = createSeal(undefined);
  const terms = { permits: null, slots: null, spacingMs: 0, jitter: 0, startInMs: 0, validMs: 15_000 };
  let last = 0;
  return {
    acquire: ({ wants }) =>
      Promise.resolve({
        answers: wants.map(({ host, via }) => {
          const ways = via === 'proxy' ? proxies.map((url, n) => ({ egress: `free-${n}`, url })) : [];
          const leases = ways.map(({ egress, url }) => ({
            ...{ ...terms, host, egress, id: `l${last++}` },
            url: seal.seal(url, egress),
          }));
          const direct = { ...terms, host, egress: DIRECT, id: `l${last++}` };
          return {
            kind: 'granted' as const,
            leases: leases.length > 0 ? leases : [direct],
            robots: { state: 'ignored' as const },
          };
        }),
      }),
    report: () => Promise.resolve({ ended: [], closed: [] }),
    onNews: () => () => undefined,
  };
}
