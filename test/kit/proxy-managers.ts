/** Proxy-managers on a test server, in this process or as processes of their own, and fake workers that ask them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { createClusterProxyManager } from '../../src/cluster/create-proxy-manager.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { createEgressClient, type EgressClient } from '../../src/nats/egress-client.ts';
import type { News } from '../../src/nats/events.ts';
import { createServices, type Services } from '../../src/nats/services-client.ts';
import { createStop } from '../../src/runtime/actor.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createActorMetrics, type ActorMetrics } from '../../src/telemetry/metrics.ts';
import { watchLoopDelay } from '../../src/telemetry/loop-delay.ts';
import type { AcquireRequest, EgressReport, LeaseGrant, Want } from '../../src/wire/egress.ts';
import { createNames } from '../../src/wire/names.ts';
import { QUICK_TTL, STEADY_TTL } from './leader-ttl.ts';
import { guard, type Teardown, type TestServer } from './nats-server.ts';

export const names = createNames('trawl');
/** The first lease of a host would be for its robots.txt. */
const NO_ROBOTS = { TRAWL_FETCH_ROBOTS: 'false' };
export type Env = Readonly<Record<string, string>>;

export interface Manager {
  readonly news: readonly News[];
  readonly logLines: readonly string[];
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

export interface EgressField {
  readonly connection: Connection;
  readonly client: EgressClient;
  readonly services: Services;
  /** Resolves when somebody leads. */
  start(id: string, env?: Env): Promise<Manager>;
  call<T>(verb: string, body?: object): Promise<T>;
  acquire(
    wants: readonly Want[],
    worker?: string,
  ): Promise<NonNullable<Awaited<ReturnType<EgressClient['acquire']>>>>;
}

export async function openEgressField(t: Teardown, server: TestServer): Promise<EgressField> {
  const connection = await server.connect('field');
  const { config } = loadConfig({ flags: {}, env: { NATS_URL: server.url }, cwd: '/' });
  await applyTopology(connection, planCluster(config), { onDrift: 'keep' });
  const services = createServices(connection, names);
  const client = createEgressClient(connection, names);
  const field: EgressField = {
    connection,
    client,
    services,
    start: (id, env) => startManager(t, server, { id, env }),
    call: async <T>(verb: string, body: object = {}) => (await services.call(verb, body)) as T,
    async acquire(wants, worker = 'w1') {
      const reply = await client.acquire({ worker, machine: 'm1', wants });
      if (!reply) throw new Error('nobody has answered');
      return reply;
    },
  };
  return field;
}

export async function startManager(
  t: Teardown,
  server: Pick<TestServer, 'url' | 'connect'>,
  { id, env = {} }: { id: string; env?: Env | undefined },
): Promise<Manager> {
  const connection = await server.connect(id);
  const { config } = loadConfig({
    flags: {},
    env: {
      NATS_URL: server.url,
      TRAWL_LEADER_TTL: STEADY_TTL,
      TRAWL_EGRESS_KEY: 'test-key',
      ...NO_ROBOTS,
      ...env,
    },
    cwd: '/',
  });
  const news: News[] = [];
  const logLines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: (line) => logLines.push(line) });
  const loopDelay = watchLoopDelay();
  t.teardown(() => loopDelay.stop());
  const { registry }: ActorMetrics = createActorMetrics({
    role: 'proxy-manager',
    id,
    version: '0.0.0',
    loopDelay,
    heartbeatFailures: () => 0,
    inFlight: () => 0,
  });
  const control = createStop(5_000);
  const announce = (event: News): void => void news.push(event);
  const actor = createClusterProxyManager({ config, names, connection, id, log, announce, registry });
  const done = actor.run(control.stop);
  const ended = done.catch(() => undefined);
  t.teardown(async () => {
    control.abort();
    control.settled();
    await ended;
  });
  await untilAnswered(connection, done);
  return {
    news,
    logLines,
    metrics: () => registry.metrics(),
    async stop() {
      control.quiet();
      await done;
      control.settled();
    },
  };
}

/** One that sleeps hears every question and answers none: whoever asks must not wait for it. */
async function untilAnswered(connection: Connection, done: Promise<void>): Promise<void> {
  const services = createServices(connection, names);
  const answered = async (): Promise<void> => {
    for (let left = 40; ; left -= 1) {
      try {
        await services.call('proxies.ls', { limit: 1 }, { timeoutMs: 500 });
        return;
      } catch (error) {
        if (left === 0 || connection.nc.isClosed()) throw error;
        await delay(50);
      }
    }
  };
  await Promise.race([answered(), done.then(() => Promise.reject(new Error('the manager ended')))]);
}

export interface ManagerProcess {
  readonly leading: Promise<void>;
  kill(): Promise<void>;
  readonly child: ChildProcess;
}

/** The same as a process, to be killed. */
export function spawnManager(t: Teardown, server: TestServer, id: string, env: Env = {}): ManagerProcess {
  const program = join(import.meta.dirname, 'proxy-manager-process.js');
  const child = spawn(process.execPath, [program, id], {
    env: { TRAWL_LEADER_TTL: QUICK_TTL, ...env, NATS_URL: server.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  guard(child);
  const gone = once(child, 'exit');
  const leading = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'leading') resolve();
    });
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  t.teardown(kill);
  return { leading, kill, child };
}

export function want(fields: Partial<Want> = {}): Want {
  return {
    host: 'shop.example',
    scraper: 'prices',
    count: 5,
    slots: 5,
    via: 'proxy',
    select: 'lru',
    exclusive: false,
    tried: [],
    ...fields,
  };
}

export function reportOf(worker: string, fields: Partial<EgressReport> = {}): EgressReport {
  return { worker, uses: [], done: [], renew: [], sessions: [], robots: [], ...fields };
}

/** Longer than anything that only a busy moment explains. */
const LONG_MS = 5_000;

/** What the proxies saw, by id. */
export type Seen = Map<string, number>;

/**
 * A worker that asks, sends what it was granted, and reports, until it is told that nothing is left for a long time. What
 * it sends is counted at the moment it is sent: the ground truth.
 */
export async function runFakeWorker(
  client: EgressClient,
  { worker, seen, over }: { worker: string; seen: Seen; over: AbortSignal },
): Promise<void> {
  const request: AcquireRequest = { worker, machine: 'm1', wants: [want({ count: 5, slots: 5 })] };
  let unreported: EgressReport | undefined;
  while (!over.aborted) {
    if (unreported) {
      if (!(await client.report(unreported))) {
        await delay(50);
        continue;
      }
      unreported = undefined;
    }
    const [answer] = (await client.acquire(request))?.answers ?? [];
    if (!answer) await delay(50);
    else if (answer.kind === 'none') {
      if (answer.retryInMs > LONG_MS) return;
      await delay(Math.max(20, answer.retryInMs));
    } else {
      const uses = [];
      for (const lease of answer.leases) uses.push(...(await send(lease, seen)));
      unreported = reportOf(worker, { uses, done: answer.leases.map(({ id }) => id) });
    }
  }
}

async function send(lease: LeaseGrant, seen: Seen): Promise<EgressReport['uses'][number][]> {
  const uses: EgressReport['uses'][number][] = [];
  const permits = lease.permits ?? 5;
  for (let n = 0; n < permits; n += 1) {
    seen.set(lease.egress, (seen.get(lease.egress) ?? 0) + 1);
    await delay(5);
    uses.push({ lease: lease.id, n, outcome: 'ok', startedAgoMs: 5 * (permits - n), ms: 5, status: 200 });
  }
  return uses;
}
