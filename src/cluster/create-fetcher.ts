/** What a worker fetches with, as the configuration wants it. */
import { hostname } from 'node:os';
import { createBrowserEngine } from '../browser/engine.ts';
import type { Config } from '../config/fields.ts';
import { parseProxyAddress } from '../domain/proxy-address.ts';
import { createCircuits } from '../fetch/circuits.ts';
import type { FetchMeter, FetchOutcome, FetchParts, FetchSettings } from '../fetch/fetch-parts.ts';
import { createFetcher, type Fetcher } from '../fetch/fetcher.ts';
import { createLeasePool } from '../fetch/lease-pool.ts';
import type { EgressPort } from '../fetch/lease-ports.ts';
import { createPageCache } from '../fetch/page-cache.ts';
import { createProfiles } from '../fetch/profiles.ts';
import { createRobotsKeeper } from '../fetch/robots-keeper.ts';
import { createHttpEngine, type HttpEngine } from '../http/engine.ts';
import { parseTorControl, renewTorCircuit } from '../http/tor-control.ts';
import { createEgressClient } from '../nats/egress-client.ts';
import { systemClock, type Clock } from '../runtime/clock.ts';
import { createFetchMetrics } from '../telemetry/fetch-metrics.ts';
import type { Log } from '../telemetry/log.ts';
import { keys } from '../wire/names.ts';
import { createSeal } from '../wire/sealed.ts';
import { openReply, sealReport } from '../wire/sealed-sessions.ts';
import type { ActorParts } from './roles.ts';

const CACHE_MAX_BYTES = 64 * 1024 * 1024;
const BLOCKS: ReadonlySet<FetchOutcome> = new Set(['blocked', 'soft_block']);

export function createClusterFetcher(
  parts: Pick<ActorParts, 'config' | 'connection' | 'names' | 'id' | 'log' | 'registry'> &
    Partial<Pick<ActorParts, 'tally'>>,
): Fetcher {
  const { config, connection, names, id, log, registry } = parts;
  const profiles = createProfiles(config.fetch.userAgent);
  // A name that is wrong is told at the start, not by the first task.
  profiles.userAgentOf(config.fetch.profile);
  const own = createFetchMetrics(registry, () => fetcher.stats());
  const meter: FetchMeter = {
    fetched(outcome, facts) {
      own.fetched(outcome, facts);
      parts.tally?.fetched(outcome, { ...facts, blocked: BLOCKS.has(outcome) });
    },
  };
  const fetcher = createFetcher(() =>
    assembleFetchParts({ config, id, log, profiles, meter, port: openPort() }),
  );
  return fetcher;

  /** Nobody but the manager reads the cookies of a session on their way. */
  function openPort(): EgressPort {
    const client = createEgressClient(connection, names);
    const seal = createSeal(config.egress.key);
    return {
      ...client,
      async acquire(request) {
        const reply = await client.acquire(request);
        return reply && openReply(reply, seal);
      },
      report: (report) => client.report(sealReport(report, seal)),
    };
  }
}

export interface FetchSurroundings extends Pick<FetchParts, 'profiles' | 'meter'> {
  readonly config: Config;
  readonly id: string;
  readonly log: Log;
  /** Whoever grants the egress. */
  readonly port: EgressPort;
  readonly clock?: Clock | undefined;
  readonly engine?: HttpEngine | undefined;
}

export function assembleFetchParts(parts: FetchSurroundings): FetchParts {
  const { config, id, log, profiles, meter, port, clock = systemClock } = parts;
  const { fetch } = config;
  const seal = createSeal(config.egress.key);
  const robots = createRobotsKeeper({ clock, userAgent: fetch.userAgent });
  const allowLoopback = fetch.allowLoopback ?? [];
  const engine =
    parts.engine ??
    createHttpEngine({
      allowLoopback,
      poolsMax: fetch.poolsMax,
      connectionsPerOrigin: fetch.connectionsMax,
    });
  const browser = createBrowserEngine({
    ...config.browser,
    idleMs: config.browser.idle,
    connectMs: fetch.connectTimeout,
    allowLoopback,
    clock,
    log,
  });
  const circuits = createCircuits({
    clock,
    log,
    renew: (control) => renewTorCircuit(control, { timeoutMs: fetch.connectTimeout }),
    drop(egress) {
      engine.drop(egress);
      browser.drop(egress);
    },
  });
  return {
    clock,
    engine,
    browser,
    circuits,
    profiles,
    robots,
    log,
    meter,
    settings: settingsOf(config),
    cache: createPageCache({ maxBytes: CACHE_MAX_BYTES }),
    pool: createLeasePool({
      worker: id,
      machine: hostname(),
      port,
      clock,
      random: Math.random,
      log,
      readWay: ({ url, control, egress }) => {
        const open = (text: string): string => seal.open(text, keys.proxy(egress));
        return {
          address: url === undefined ? undefined : parseProxyAddress(open(url)),
          control: control === undefined ? undefined : parseTorControl(open(control)),
        };
      },
      robotsVersion: (host) => robots.version(host),
      onRobots: (host, advice) => robots.hear(host, advice),
    }),
  };
}

function settingsOf({ fetch, egress }: Config): FetchSettings {
  return {
    timeouts: {
      connectMs: fetch.connectTimeout,
      headersMs: fetch.headersTimeout,
      bodyMs: fetch.bodyTimeout,
      totalMs: fetch.timeout,
    },
    maxBytes: fetch.maxBytes,
    maxRedirects: fetch.maxRedirects,
    http2: fetch.http2,
    robots: fetch.robots,
    profile: fetch.profile,
    egress: { via: egress.via, whenNone: egress.whenNone, select: egress.selection },
  };
}
