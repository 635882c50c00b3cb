/** How many workers there may be at most, whatever the backlog: what egress can feed, and what the machine can carry. */
import type { Load } from './load.ts';
import type { ScaleLimits } from './limits.ts';

/** What the machine on which workers would be started has to say; a platform that places them itself has nothing. */
export interface Guard {
  /** What is over its limit: `cpu`, `memory`, `disk`, `load`. */
  readonly factors: readonly string[];
  /** Workers that fit, those that run included. */
  readonly fits?: number | undefined;
  /** What keeps them from being more: `cores` or `memory`. */
  readonly fitsBy?: string | undefined;
  /** Workers that there may be, those elsewhere included, because somebody has said so: also before the least number. */
  readonly most?: number | undefined;
}

export interface Capped {
  readonly workers: number;
  readonly limitedBy: readonly string[];
}

/** Where more than this part of the slots waits for egress, more slots would only wait too. */
const FED_MIN = 0.5;

export function applyCaps(
  wanted: number,
  { load, size, guard, limits }: { load: Load; size: number; guard: Guard | undefined; limits: ScaleLimits },
): Capped {
  let limitedBy: readonly string[] = [];
  let workers = wanted;
  const cap = (most: number, ...names: readonly string[]): void => {
    if (most >= workers) return;
    workers = most;
    limitedBy = names; // the tightest is what counts
  };
  cap(fedByEgress(load, limits), 'egress');
  // A pressed machine takes no more workers; those that it has lower their own load.
  if (guard) {
    if (guard.factors.length > 0) cap(Math.max(size, 0), ...guard.factors);
    if (guard.fits !== undefined) cap(Math.max(size, guard.fits), guard.fitsBy ?? 'memory');
  }
  cap(limits.max, 'max');
  if (workers < limits.min) {
    workers = limits.min;
    if (wanted < limits.min) limitedBy = [];
  }
  if (guard?.most !== undefined) cap(Math.max(size, guard.most), 'machine');
  return { workers, limitedBy };
}

/** Workers that there always are, as far as there is a place for them. */
export function leastWorkers(size: number, guard: Guard | undefined, limits: ScaleLimits): number {
  return Math.min(limits.min, Math.max(size, guard?.most ?? Infinity));
}

/** One at least: without anybody who asks, nobody would notice that egress is there again. */
function fedByEgress(load: Load, limits: ScaleLimits): number {
  if (load.starved === 0) return Infinity;
  const working = Math.max(0, load.busy - load.starved);
  return Math.max(1, Math.ceil(working / ((load.slots ?? limits.slots) * FED_MIN)));
}
