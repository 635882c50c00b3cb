/**
 * The answer to whom nothing can be granted: why, and when to come again. So that a crowd does not come back in the same
 * instant, each is told to come a little later than the one before, as far apart as the host serves them.
 */
import type { EgressCaps } from '../../domain/egress.ts';
import type { WantAnswer } from '../../wire/egress.ts';
import type { NoRoom } from './room.ts';
import type { Host } from './entities.ts';
import type { State } from './state.ts';
import { HOUR_MS, MINUTE_MS } from './window.ts';

const TAIL_MAX_MS = 300_000;
const INTERVAL_MIN_MS = 5;
const INTERVAL_MAX_MS = 60_000;
/** Two times that differ by no more are the same, as far as a crowd is concerned. */
const SAME_MS = 1_000;

export function deny(state: State, host: Host, { reason, at }: NoRoom, now: number): WantAnswer {
  const base = Math.max(at, now + 1);
  if (base + SAME_MS < host.tailBase || host.tail > base + TAIL_MAX_MS) host.tail = base;
  host.tailBase = base;
  const when = Math.min(Math.max(host.tail, base), base + TAIL_MAX_MS);
  host.tail = when + intervalOf(state, host, reason === 'rate_limited');
  return { kind: 'none', reason, retryInMs: Math.ceil(when - now) };
}

function intervalOf(state: State, { limits }: Host, byPool: boolean): number {
  const interval = Math.max(limits.delayMs, atMost(limits), byPool ? intervalOfPool(state, limits) : 0);
  return Math.min(INTERVAL_MAX_MS, Math.max(INTERVAL_MIN_MS, interval));
}

/**
 * As fast as budgets come back, if one is used up. Otherwise it is only the distance between two requests through one
 * proxy that was too short, and all of them together serve faster than each.
 */
function intervalOfPool({ ratePerMs, byState }: State, { egressDelayMs }: Host['limits']): number {
  if (byState.rate_limited > 0 && ratePerMs > 0) return 1 / ratePerMs;
  return egressDelayMs / Math.max(1, byState.available + byState.leased);
}

/** Between two, if no more than that may come. */
function atMost({ perMinute, perHour }: EgressCaps): number {
  return Math.max(perMinute > 0 ? MINUTE_MS / perMinute : 0, perHour > 0 ? HOUR_MS / perHour : 0);
}
