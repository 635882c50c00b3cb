/** What a worker fetches with, as the configuration wants it. */
import { hostname } from 'node:os';
import type { Config } from '../config/fields.ts';
import { parseProxyAddress } from '../domain/proxy-address.ts';
import type { FetchParts, FetchSettings } from '../fetch/fetch-parts.ts';
import { createFetcher, type Fetcher } from '../fetch/fetcher.ts';
import { createLeasePool } from '../fetch/lease-pool.ts';
import { createPageCache } from '../fetch/page-cache.ts';
import { createProfiles } from '../fetch/profiles.ts';
import { createRobotsKeeper } from '../fetch/robots-keeper.ts';
import { createHttpEngine } from '../http/engine.ts';
import { createEgressClient } from '../nats/egress-client.ts';
import { systemClock } from '../runtime/clock.ts';
import { createFetchMetrics } from '../telemetry/fetch-metrics.ts';
import { keys } from '../wire/names.ts';
import { createSeal } from '../wire/sealed.ts';
import type { ActorParts } from './roles.ts';

const CACHE_MAX_BYTES = 64 * 1024 * 1024;

export function createClusterFetcher(
  parts: Pick<ActorParts, 'config' | 'connection' | 'names' | 'id' | 'log' | 'registry'>,
): Fetcher {
  const { config, connection, names, id, log, registry } = parts;
  const { fetch } = config;
  const profiles = createProfiles(fetch.userAgent);
  // A name that is wrong is told at the start, not by the first task.
  profiles.userAgentOf(fetch.profile);
  const metrics = createFetchMetrics(registry, () => fetcher.stats());
  const fetcher = createFetcher(assemble);
  return fetcher;

  function assemble(): FetchParts {
    const clock = systemClock;
    const seal = createSeal(config.egress.key);
    const robots = createRobotsKeeper({ clock, userAgent: fetch.userAgent });
    return {
      clock,
      profiles,
      robots,
      log,
      meter: metrics,
      settings: settingsOf(config),
      cache: createPageCache({ maxBytes: CACHE_MAX_BYTES }),
      engine: createHttpEngine({
        allowLoopback: fetch.allowLoopback ?? [],
        poolsMax: fetch.poolsMax,
        connectionsPerOrigin: fetch.connectionsMax,
      }),
      pool: createLeasePool({
        worker: id,
        machine: hostname(),
        port: createEgressClient(connection, names),
        clock,
        random: Math.random,
        log,
        readAddress: ({ url, egress }) =>
          url === undefined ? undefined : parseProxyAddress(seal.open(url, keys.proxy(egress))),
        robotsVersion: (host) => robots.version(host),
        onRobots: (host, advice) => robots.hear(host, advice),
      }),
    };
  }
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
