/**
 * What the proxy-manager costs. Grants: how long a grant of 50 takes with 10,000 proxies, one asker at a time, and how many
 * grants a second several askers get; the manager is a process of its own, the store is a real server. Fetches: pages
 * per second of one process by leave of the manager, against the same without one and against the bare engine.
 *
 *   node dist/test/bench/egress.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createEgressClient, type EgressClient } from '../../src/nats/egress-client.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { addProxies, GRANT, grantOnce, startManager } from './harness/grants.ts';
import { names } from './harness/ledger-check.ts';
import { openBench, target } from './harness/report.ts';
import { checkShipped, natsVersion } from './harness/shipped.ts';
import { median } from './measure.ts';
import type { FetchJob, FetchRates } from './egress-fetches.ts';
import { openStage, withTeardown, type Stage } from './stage.ts';

const bench = openBench('egress');
const PROXIES = bench.size(10_000, 1_000);
const GRANTS = bench.size(1_000, 50);
const STORM_MS = bench.size(5_000, 500);
const ASKERS = 8;
const FETCH_PROXIES = bench.size(100, 10);

interface Grants {
  readonly what: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
}

await withTeardown(async (t) => {
  const stage = await openStage(t, { sync: 'always' });
  const grants = await measureGrants(stage);
  const fetches = await measureFetches(stage);
  const share = (kind: keyof FetchRates, of: keyof FetchRates): number =>
    median(fetches[kind].map((rate, round) => rate / (fetches[of][round] ?? NaN))) * 100;
  const whole = (value: number): string => Math.round(value).toLocaleString('en');
  bench.finish({
    tables: [
      {
        title: `a grant of ${GRANT} of ${PROXIES} proxies`,
        head: ['grant', 'p50 ms', 'p99 ms', `grants/s, ${ASKERS} askers`],
        rows: grants.map(({ what, p50Ms, p99Ms, perSecond }) => [
          what,
          p50Ms.toFixed(2),
          p99Ms.toFixed(2),
          whole(perSecond),
        ]),
      },
      {
        title: 'pages a second of one process',
        head: [
          'way',
          'bare agents',
          'fetch, no manager',
          'fetch, with manager',
          '% of no manager',
          '% of bare',
        ],
        rows: (['Direct', 'Proxies'] as const).map((way) => [
          way === 'Direct' ? 'directly' : `${FETCH_PROXIES} proxies`,
          ...(['engine', 'fetch', 'managed'] as const).map((kind) => whole(median(fetches[`${kind}${way}`]))),
          share(`managed${way}`, `fetch${way}`).toFixed(1),
          share(`managed${way}`, `engine${way}`).toFixed(1),
        ]),
      },
    ],
    targets: (['Direct', 'Proxies'] as const).map((way) =>
      target(`${way.toLowerCase()}: loss with the manager, %`, 100 - share(`managed${way}`, `fetch${way}`), {
        max: 5,
      }),
    ),
    absent: [],
    checks: [await checkShipped(stage)],
    versions: natsVersion(stage),
    settings: {
      grants: `${PROXIES} proxies, ${GRANTS} questions one after the other, then ${ASKERS} askers for ${STORM_MS / 1_000} s`,
      fetches: 'the same pages of a demo site, which has a process of its own; 50 at once',
    },
    rows: [...grants, fetches],
  });
});

/** Pairs of (grant of 50, given back): the pool is always the same. Capped proxies are the worst case: each grant is stored. */
async function measureGrants(stage: Stage): Promise<Grants[]> {
  const services = await startManager(stage);
  const grants: Grants[] = [];
  for (const [what, perHour] of [
    ['with a cap', 50],
    ['without caps', 0],
  ] as const) {
    await addProxies(services, PROXIES, perHour);
    const client = createEgressClient(stage.connection, names);
    for (let n = 0; n < 20; n += 1) await grantOnce(client, 'warm');
    const waits: number[] = [];
    for (let n = 0; n < GRANTS; n += 1) waits.push(await grantOnce(client, 'one'));
    const sorted = waits.sort((a, b) => a - b);
    const p99Ms = sorted[Math.floor((sorted.length - 1) * 0.99)] ?? NaN;
    grants.push({ what, p50Ms: median(sorted), p99Ms, perSecond: await storm(client) });
  }
  return grants;
}

/** A grant is a permit: 50 of them in each answer. */
async function storm(client: EgressClient): Promise<number> {
  const began = performance.now();
  let granted = 0;
  await Promise.all(
    Array.from({ length: ASKERS }, async (_, n) => {
      while (performance.now() - began < STORM_MS) {
        await grantOnce(client, `asker-${n}`);
        granted += GRANT;
      }
    }),
  );
  return (granted / (performance.now() - began)) * 1_000;
}

async function measureFetches({ server, connection }: Stage): Promise<FetchRates> {
  const services = createServices(connection, names);
  await services.call(
    'proxies.rm',
    { ids: Array.from({ length: PROXIES }, (_, n) => `p${n}`) },
    { timeoutMs: 30_000 },
  );
  const world = spawn(
    process.execPath,
    [join(import.meta.dirname, 'egress-world.js'), String(FETCH_PROXIES)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    const { url, proxies } = (await firstLine(world.stdout)) as { url: string; proxies: string[] };
    await services.call('proxies.add', {
      proxies: proxies.map((each, n) => ({ url: each, id: `w${n}`, perHour: 0 })),
    });
    const job: FetchJob = {
      nats: server.url,
      site: url,
      proxies,
      pages: bench.size(5_000, 300),
      rounds: bench.rounds,
      atOnce: 50,
    };
    const fetches = spawn(
      process.execPath,
      [join(import.meta.dirname, 'egress-fetches.js'), JSON.stringify(job)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    return (await firstLine(fetches.stdout)) as FetchRates;
  } finally {
    world.kill();
    await once(world, 'exit');
  }
}

async function firstLine(input: NodeJS.ReadableStream): Promise<unknown> {
  for await (const line of createInterface({ input })) return JSON.parse(line);
  throw new Error('it ended without a word');
}
