/** What holds for a host: what people or the defaults say, made stricter by scrapers, robots.txt and its own answers. */
import type { EgressCaps, HostLimits } from '../../domain/egress.ts';

export interface LimitSources {
  readonly usual: HostLimits;
  readonly own: Partial<HostLimits> | undefined;
  readonly asked: Iterable<Partial<HostLimits>>;
  readonly crawlDelayMs: number;
  readonly adaptiveDelayMs: number;
}

export function decideHostLimits(sources: LimitSources): HostLimits {
  let limits: HostLimits = { ...sources.usual, ...sources.own };
  for (const asked of sources.asked) limits = stricter(limits, asked);
  const delayMs = Math.max(limits.delayMs, sources.crawlDelayMs, sources.adaptiveDelayMs);
  return delayMs === limits.delayMs ? limits : { ...limits, delayMs };
}

export function stricter(a: HostLimits, b: Partial<HostLimits>): HostLimits {
  return {
    perHour: lower(a.perHour, b.perHour),
    perMinute: lower(a.perMinute, b.perMinute),
    delayMs: Math.max(a.delayMs, b.delayMs ?? 0),
    egressDelayMs: Math.max(a.egressDelayMs, b.egressDelayMs ?? 0),
    jitter: Math.max(a.jitter, b.jitter ?? 0),
    concurrency: lower(a.concurrency, b.concurrency),
    egressCaps: {
      perHour: lower(a.egressCaps.perHour, b.egressCaps?.perHour),
      perMinute: lower(a.egressCaps.perMinute, b.egressCaps?.perMinute),
    },
  };
}

/** Whether something was allowed under `before` that is not under `after`. */
export function isStricter(after: HostLimits, before: HostLimits): boolean {
  return (
    areCapsStricter(after, before) ||
    areCapsStricter(after.egressCaps, before.egressCaps) ||
    isLower(after.concurrency, before.concurrency) ||
    after.delayMs > before.delayMs ||
    after.egressDelayMs > before.egressDelayMs
  );
}

export function areSameLimits(
  a: Partial<HostLimits> | undefined,
  b: Partial<HostLimits> | undefined,
): boolean {
  if (!a || !b) return a === b;
  return (
    a.perHour === b.perHour &&
    a.perMinute === b.perMinute &&
    a.delayMs === b.delayMs &&
    a.egressDelayMs === b.egressDelayMs &&
    a.jitter === b.jitter &&
    a.concurrency === b.concurrency &&
    a.egressCaps?.perHour === b.egressCaps?.perHour &&
    a.egressCaps?.perMinute === b.egressCaps?.perMinute
  );
}

function areCapsStricter(after: EgressCaps, before: EgressCaps): boolean {
  return isLower(after.perHour, before.perHour) || isLower(after.perMinute, before.perMinute);
}

function isLower(after: number, before: number): boolean {
  return after > 0 && (before === 0 || after < before);
}

/** 0 means no limit, and so is the highest. */
function lower(a: number, b = 0): number {
  if (a === 0 || b === 0) return Math.max(a, b);
  return Math.min(a, b);
}
