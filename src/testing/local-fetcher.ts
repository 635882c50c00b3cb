/** What fetches for a task that runs without a cluster: the worker's own parts, with a record of all requests. */
import { assembleFetchParts } from '../cluster/create-fetcher.ts';
import type { Config } from '../config/fields.ts';
import type { ProxyAddress } from '../domain/egress.ts';
import { createFetcher, type Fetcher } from '../fetch/fetcher.ts';
import { createLocalEgress } from '../fetch/local-egress.ts';
import { createProfiles } from '../fetch/profiles.ts';
import { createHttpEngine, type HttpEngine } from '../http/engine.ts';
import { systemClock, type Clock } from '../runtime/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { createSeal } from '../wire/sealed.ts';
import { recordRequests, type SeenRequest } from './recorded-engine.ts';

export interface LocalFetcher {
  readonly fetcher: Fetcher;
  readonly requests: readonly SeenRequest[];
}

export function createLocalFetcher({
  config,
  log,
  clock = systemClock,
  engine,
  proxy,
}: {
  readonly config: Config;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  readonly engine?: HttpEngine | undefined;
  /** Everything leaves through it; without it, directly, whatever the scraper says. */
  readonly proxy?: ProxyAddress | undefined;
}): LocalFetcher {
  const { fetch } = config;
  const made =
    engine ??
    createHttpEngine({
      allowLoopback: fetch.allowLoopback ?? [],
      poolsMax: fetch.poolsMax,
      connectionsPerOrigin: fetch.connectionsMax,
    });
  const recorded = recordRequests(made, clock);
  const fetcher = createFetcher(() =>
    assembleFetchParts({
      config,
      id: 'local',
      log,
      clock,
      profiles: createProfiles(fetch.userAgent),
      meter: { fetched: () => undefined },
      port: createLocalEgress({ clock, proxy, seal: createSeal(config.egress.key) }),
      engine: recorded.engine,
    }),
  );
  return { fetcher, requests: recorded.requests };
}

/** Of an address on this machine that a person has typed: exactly it may be fetched. */
export function loopbackOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  const place = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  if (hostname === 'localhost') return `127.0.0.1:${place}`;
  return /^(?:127\.[\d.]+|\[::1\])$/.test(hostname) ? `${hostname}:${place}` : undefined;
}
