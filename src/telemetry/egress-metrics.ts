/** Metrics of the proxy-manager, about what it does while it leads; how much there is of everything the exporter tells. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface ProbedProxy {
  readonly id: string;
  readonly health?:
    | {
        readonly lastCheck: number;
        readonly isHealthy: boolean;
        readonly responseMs?: number | undefined;
        readonly statusCode?: number | undefined;
      }
    | undefined;
}

export interface EgressLook {
  proxies(): readonly ProbedProxy[];
}

export interface EgressMetrics {
  granted(count: number): void;
  denied(reason: string): void;
  round(ms: number): void;
  readWith(look: EgressLook | undefined): void;
}

/** Each proxy that was probed has series of its own; beyond this many, only sums are told. */
const PROXIES_SHOWN_MAX = 1_000;
const ROUND_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function createEgressMetrics(registry: Registry): EgressMetrics {
  let look: EgressLook | undefined;
  const registers = [registry];
  const grants = new Counter({
    name: 'trawl_egress_grants_total',
    help: 'Leases granted to workers.',
    registers,
  });
  const denials = new Counter({
    name: 'trawl_egress_denials_total',
    help: 'Questions of workers that got no lease, by reason.',
    labelNames: ['reason'],
    registers,
  });
  const rounds = new Histogram({
    name: 'trawl_egress_round_duration_seconds',
    help: 'From taking what waits to the answers, with the storing between.',
    buckets: ROUND_BUCKETS,
    registers,
  });
  byProxy('trawl_proxy_healthy', '1 if the last probe of the proxy passed.', ({ isHealthy }) =>
    isHealthy ? 1 : 0,
  );
  byProxy('trawl_proxy_probe_seconds', 'How long the last probe took.', ({ responseMs }) =>
    responseMs === undefined ? undefined : responseMs / 1e3,
  );
  byProxy(
    'trawl_proxy_probe_status_code',
    'The status that the last probe got.',
    ({ statusCode }) => statusCode,
  );
  byProxy(
    'trawl_proxy_probe_timestamp_seconds',
    'When the proxy was last probed.',
    ({ lastCheck }) => lastCheck / 1e3,
  );

  return {
    granted: (count) => grants.inc(count),
    denied: (reason) => denials.inc({ reason }),
    round: (ms) => rounds.observe(ms / 1e3),
    readWith: (seen) => void (look = seen),
  };

  function byProxy(
    name: string,
    help: string,
    read: (health: NonNullable<ProbedProxy['health']>) => number | undefined,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: ['proxy'],
      registers,
      collect() {
        this.reset();
        for (const { id, health } of (look?.proxies() ?? []).slice(0, PROXIES_SHOWN_MAX)) {
          const value = health && read(health);
          if (value !== undefined) this.set({ proxy: id }, value);
        }
      },
    });
  }
}
