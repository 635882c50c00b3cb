/**
 * How long to wait before the next attempt: twice as long after each fault, up to a limit, with jitter so that tasks
 * that failed together do not come back together. Always between half of `baseMs` and `maxMs`.
 */
export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number; // at least baseMs
}

export const BACKOFF_DEFAULTS: BackoffLimits = { baseMs: 60_000, maxMs: 3_600_000 };

/** `attempt` is the one that failed, from 1; `random` is in [0, 1). */
export function backoffMs(attempt: number, { baseMs, maxMs }: BackoffLimits, random: number): number {
  const fullMs = Math.min(baseMs * 2 ** (Math.max(attempt, 1) - 1), maxMs);
  return Math.round(fullMs * (0.5 + random / 2));
}
