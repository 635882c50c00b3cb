/**
 * What the proxy-manager costs. Grants: how long a grant of 50 takes with 10,000 proxies, one asker at a time, and how many
 * grants a second several askers get; the manager is a process of its own, the store is a real server. Fetches: pages
 * per second of one process by leave of the manager, against the same without one and against the bare engine.
 *
 *   node dist/test/bench/egress.js [--quick] [--json FILE]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createEgressClient, type EgressClient } from '../../src/nats/egress-client.ts';
import { createServices } from '../../src/nats/services-client.ts';
import { createNames } from '../../src/wire/names.ts';
import { reportOf, want } from '../kit/proxy-managers.ts';
import { describeMachine, formatTable, median } from './measure.ts';
import type { FetchJob, FetchRates } from './egress-fetches.ts';
import { untilTrue, withStage, type Stage } from './stage.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'string' } } });
const QUICK = flags.quick === true;
const PROXIES = QUICK ? 1_000 : 10_000;
const GRANT = 50;
const GRANTS = QUICK ? 50 : 1_000;
const STORM_MS = QUICK ? 500 : 10_000;
const ASKERS = 8;
const FETCH_PROXIES = QUICK ? 10 : 100;
const names = createNames('trawl');

interface Grants {
  readonly what: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
}

await withStage(async (stage) => {
  const rows = {
    machine: describeMachine(),
    proxies: PROXIES,
    grants: await measureGrants(stage),
    fetches: await measureFetches(stage),
  };
  print(rows.grants, rows.fetches);
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(rows, undefined, 2)}\n`);
});

/** Pairs of (grant of 50, given back): the pool is always the same. Capped proxies are the worst case: each grant is stored. */
async function measureGrants({ connection, startActor }: Stage): Promise<Grants[]> {
  startActor('proxy-manager');
  const services = createServices(connection, names);
  await untilTrue(
    async () => (await services.call('proxies.ls', { limit: 1 }).catch(() => undefined)) !== undefined,
  );
  const grants: Grants[] = [];
  for (const [what, perHour] of [
    ['with a cap', 50],
    ['without caps', 0],
  ] as const) {
    await addProxies(services, perHour);
    const client = createEgressClient(connection, names);
    for (let n = 0; n < 20; n += 1) await grantOnce(client, 'warm');
    const waits: number[] = [];
    for (let n = 0; n < GRANTS; n += 1) waits.push(await grantOnce(client, 'one'));
    const sorted = waits.sort((a, b) => a - b);
    const p99Ms = sorted[Math.floor((sorted.length - 1) * 0.99)] ?? NaN;
    grants.push({ what, p50Ms: median(sorted), p99Ms, perSecond: await storm(client) });
  }
  return grants;
}

async function addProxies(services: ReturnType<typeof createServices>, perHour: number): Promise<void> {
  const CHUNK = 1_000;
  for (let from = 0; from < PROXIES; from += CHUNK) {
    const proxies = Array.from({ length: CHUNK }, (_, n) => ({
      url: `http://127.0.0.1:${10_000 + from + n}`,
      id: `p${from + n}`,
      perHour,
    }));
    await services.call('proxies.add', { proxies }, { timeoutMs: 30_000 });
  }
}

async function grantOnce(client: EgressClient, worker: string): Promise<number> {
  const began = performance.now();
  const wants = [want({ count: GRANT, slots: GRANT })];
  const reply = await client.acquire({ worker, machine: 'm1', wants });
  const ms = performance.now() - began;
  const [answer] = reply?.answers ?? [];
  if (answer?.kind !== 'granted') throw new Error(`nothing was granted: ${JSON.stringify(answer)}`);
  await client.report(reportOf(worker, { done: answer.leases.map(({ id }) => id) }));
  return ms;
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
      pages: QUICK ? 300 : 5_000,
      rounds: QUICK ? 1 : 7,
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

function print(grants: readonly Grants[], fetches: FetchRates): void {
  const whole = (value: number): string => Math.round(value).toLocaleString('en');
  const grantRows = grants.map(({ what, p50Ms, p99Ms, perSecond }) => [
    what,
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    whole(perSecond),
  ]);
  const share = (kind: keyof FetchRates, of: keyof FetchRates): string =>
    (median(fetches[kind].map((rate, round) => rate / (fetches[of][round] ?? NaN))) * 100).toFixed(1);
  const fetchRows = (['Direct', 'Proxies'] as const).map((way) => [
    way === 'Direct' ? 'directly' : `${FETCH_PROXIES} proxies`,
    ...(['engine', 'fetch', 'managed'] as const).map((kind) => whole(median(fetches[`${kind}${way}`]))),
    share(`managed${way}`, `fetch${way}`),
    share(`managed${way}`, `engine${way}`),
  ]);
  process.stdout.write(
    `${formatTable([[`a grant of ${GRANT} of ${PROXIES} proxies`, 'p50 ms', 'p99 ms', `grants/s, ${ASKERS} askers`], ...grantRows])}\n\n` +
      `${formatTable([['pages a second', 'engine', 'fetch', 'with manager', '% of fetch', '% of engine'], ...fetchRows])}\n`,
  );
}
