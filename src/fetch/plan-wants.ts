/** How much to ask the manager for: what waits, and what the last second says about the next. */
export interface DemandFacts {
  /** Requests that wait and that no lease in hand will serve. */
  readonly unserved: number;
  /** Requests that started in the last second. */
  readonly usedLately: number;
  /** Permits in hand; Infinity where one of them has no limit. */
  readonly permits: number;
  readonly inUse: number;
  /** The leases in hand are such that others go without: nothing is taken ahead. */
  readonly scarce: boolean;
}

export interface DemandLimits {
  readonly countMax: number;
  /** Of a host that is used less often than this nothing is taken ahead: it would be given back unused. */
  readonly aheadMin: number;
}

export interface Demand {
  readonly count: number;
  readonly slots: number;
}

export const DEMAND_DEFAULTS: DemandLimits = { countMax: 1_000, aheadMin: 10 };

/** Whether to ask although nobody waits: by the time of the answer what is in hand may be gone. */
export function runsLow(
  { scarce, usedLately, permits }: Pick<DemandFacts, 'scarce' | 'usedLately' | 'permits'>,
  { aheadMin }: DemandLimits,
): boolean {
  return !scarce && usedLately >= aheadMin && permits * 2 < usedLately;
}

/** Undefined: enough is in hand. */
export function planDemand(facts: DemandFacts, limits: DemandLimits): Demand | undefined {
  const ahead = runsLow(facts, limits) ? facts.usedLately : 0;
  const count = Math.min(limits.countMax, facts.unserved + ahead);
  if (count === 0) return undefined;
  return { count, slots: Math.min(limits.countMax, Math.max(1, facts.unserved + facts.inUse)) };
}

/** Uses of the last second, counted in tenths: cheap, and forgets by itself. */
export interface UseMeter {
  count(now: number): void;
  lately(now: number): number;
}

const PARTS = 10;
const PART_MS = 100;

export function createUseMeter(): UseMeter {
  const counts = new Array<number>(PARTS).fill(0);
  let latest = 0;
  return {
    count(now) {
      const part = advance(now);
      counts[part] = (counts[part] ?? 0) + 1;
    },
    lately(now) {
      advance(now);
      return counts.reduce((sum, each) => sum + each, 0);
    },
  };

  function advance(now: number): number {
    const index = Math.floor(now / PART_MS);
    const steps = Math.min(PARTS, index - latest);
    for (let step = 0; step < steps; step += 1) counts[(index - step) % PARTS] = 0;
    if (index > latest) latest = index;
    return latest % PARTS;
  }
}
