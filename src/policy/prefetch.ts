/**
 * How many tasks a worker may hold per lane without having started them. Enough that its slots never wait for the
 * network; no more than it starts in a moment, because what it holds is late for others, and lost to all until the
 * lease ends if the worker dies.
 */
export interface PrefetchFacts {
  readonly concurrency: number;
  readonly running: number;
  /** Recent mean; undefined until a task has finished. */
  readonly taskMs: number | undefined;
  /** For how long each of those has been running that runs for longer than `SLOW_MS`. */
  readonly slowMs: readonly number[];
}

export interface PrefetchLimits {
  readonly leaseMs: number;
  readonly prefetchMax: number;
}

export interface PrefetchPlan {
  readonly perLane: number;
  readonly reason: 'unknown-duration' | 'rate' | 'free-slot' | 'busy' | 'ceiling';
}

export const PREFETCH_MAX_DEFAULT = 1_000;

/** A round trip to the server takes milliseconds, so a second's work is plenty, even when a lane gets only its share. */
const HORIZON_MS = 1_000;
export const SLOW_MS = HORIZON_MS;
/** What is held must be started, and begin to renew its lease, well before the lease ends. */
const LEASE_PART = 4;

export function planPrefetch(facts: PrefetchFacts, { leaseMs, prefetchMax }: PrefetchLimits): PrefetchPlan {
  const { concurrency, running, taskMs, slowMs } = facts;
  const plan = (perLane: number, reason: PrefetchPlan['reason']): PrefetchPlan =>
    perLane > prefetchMax ? { perLane: prefetchMax, reason: 'ceiling' } : { perLane, reason };

  const quick = Math.max(0, concurrency - slowMs.length);
  if (taskMs === undefined) return quick > 0 ? plan(2 * quick, 'unknown-duration') : plan(0, 'busy');
  const horizonMs = Math.min(HORIZON_MS, leaseMs / LEASE_PART);
  // A task without any work at all still has a mean of more than nothing.
  const meanMs = Math.max(taskMs, 0.001);
  // The mean is of tasks that have ended: it knows nothing of those that fill slots and do not end.
  const ends = slowMs.reduce((sum, ms) => sum + 1 / Math.max(meanMs, ms), quick / meanMs);
  const startable = Math.floor(ends * horizonMs);
  if (startable >= 1) return plan(startable, 'rate');
  return running < concurrency ? plan(1, 'free-slot') : plan(0, 'busy');
}
