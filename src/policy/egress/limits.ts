/** What the owner of the egress goes by. 0 = no limit, where a limit is meant. */
import type { EgressCaps, HostLimits } from '../../domain/egress.ts';
import type { ThrottleScope } from './records.ts';

export interface BookLimits {
  /** Of a proxy that has none of its own. */
  readonly proxyCaps: EgressCaps;
  /** Of a host that nobody has set limits for. */
  readonly hostLimits: HostLimits;
  /** The same by rules of the configuration, where there are any: asked instead of `hostLimits`. */
  readonly hostLimitsOf?: ((host: string) => HostLimits) | undefined;
  readonly throttleScope: ThrottleScope;
  /** Different proxies that one worker may hold. */
  readonly proxiesPerWorkerMax: number;
  /** A lease of something scarce ends this long after it was last heard of; */
  readonly leaseMs: number;
  /** of which the last part is for requests under way: none starts any more. */
  readonly flightMs: number;
  /** How long a lease of nothing scarce is good for. */
  readonly openLeaseMs: number;
  /** A start that is no further ahead than this is granted now. */
  readonly aheadMs: number;
  /** Failures of its own in a row that disable a proxy, and for how long at first. */
  readonly failuresMax: number;
  readonly disabledMs: number;
  readonly disabledMaxMs: number;
  readonly retryAfterMaxMs: number;
  readonly robots: boolean;
  /** Absent: no proxy is probed. */
  readonly probe?: { readonly intervalMs: number; readonly timeoutMs: number } | undefined;
  readonly sessionUsesMax: number;
  readonly sessionErrorsMax: number;
  /** Of one scraper at one host. */
  readonly sessionsPerHostMax: number;
  /** Clocks of two leaders differ by no more than this. */
  readonly skewMs: number;
}

export const NO_CAPS: EgressCaps = { perHour: 0, perMinute: 0 };

export const NO_HOST_LIMITS: HostLimits = {
  perHour: 0,
  perMinute: 0,
  delayMs: 0,
  egressDelayMs: 0,
  jitter: 0,
  concurrency: 0,
  egressCaps: NO_CAPS,
};

export const BOOK_DEFAULTS: BookLimits = {
  proxyCaps: { perHour: 50, perMinute: 0 },
  hostLimits: NO_HOST_LIMITS,
  throttleScope: 'host',
  proxiesPerWorkerMax: 0,
  leaseMs: 60_000,
  flightMs: 30_000,
  openLeaseMs: 15_000,
  aheadMs: 1_000,
  failuresMax: 3,
  disabledMs: 600_000,
  disabledMaxMs: 21_600_000,
  retryAfterMaxMs: 3_600_000,
  robots: true,
  sessionUsesMax: 0,
  sessionErrorsMax: 3,
  sessionsPerHostMax: 100,
  skewMs: 1_000,
};
