/** Lets so many through, then closes for a time: what a throttle, a ban and a captcha wall have in common. */
import { remember } from './rolling-limit.ts';

export interface Turnstiles {
  /** 0 = through; otherwise the milliseconds until it opens again, Infinity for never. */
  pass(key: string, limits: { readonly after: number; readonly closedMs: number }, nowMs: number): number;
  /** How often this key came, this time included. */
  count(key: string): number;
  clear(): void;
}

interface Turnstile {
  readonly passed: number;
  readonly closedUntilMs: number | undefined; // monotonic
}

const KEYS_MAX = 10_000;

export function createTurnstiles(): Turnstiles {
  const gates = new Map<string, Turnstile>();
  const counts = new Map<string, number>();
  return {
    pass(key, { after, closedMs }, nowMs) {
      let { passed, closedUntilMs } = gates.get(key) ?? { passed: 0, closedUntilMs: undefined };
      if (closedUntilMs !== undefined && closedUntilMs <= nowMs) [passed, closedUntilMs] = [0, undefined];
      if (passed < after) passed += 1;
      else closedUntilMs ??= nowMs + closedMs;
      remember(gates, key, { passed, closedUntilMs }, KEYS_MAX);
      return closedUntilMs === undefined ? 0 : closedUntilMs - nowMs;
    },
    count(key) {
      const count = (counts.get(key) ?? 0) + 1;
      remember(counts, key, count, KEYS_MAX);
      return count;
    },
    clear() {
      gates.clear();
      counts.clear();
    },
  };
}
