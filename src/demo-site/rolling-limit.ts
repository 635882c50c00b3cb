/** At most so many within any stretch of a length, per key. What was refused does not count. */
export interface RollingLimit {
  /** 0 = taken; otherwise the milliseconds until one more would be. */
  take(key: string, nowMs: number): number;
  clear(): void;
}

/** So many keys are remembered; the one that was heard of least recently is forgotten first. */
const KEYS_MAX = 10_000;

export function createRollingLimit({ max, windowMs }: { max: number; windowMs: number }): RollingLimit {
  const taken = new Map<string, number[]>();
  return {
    take(key, nowMs) {
      const times = (taken.get(key) ?? []).filter((time) => time > nowMs - windowMs);
      const [oldest = nowMs] = times;
      const waitMs = times.length < max ? 0 : oldest + windowMs - nowMs;
      if (waitMs === 0) times.push(nowMs);
      remember(taken, key, times, KEYS_MAX);
      return waitMs;
    },
    clear: () => taken.clear(),
  };
}

/** Puts an entry at the young end of a map that may hold so many. */
export function remember<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    break;
  }
}
