/**
 * Which worker answers one call now. Calls are pushed, tasks are pulled: only here does anybody choose a worker. The
 * caller reads heartbeats, asks and counts; this only decides.
 */
import type { Beat } from '../domain/beat.ts';
import { judgeLiveness, type LivenessLimits } from './liveness.ts';

export const STRATEGIES = ['least_loaded', 'round_robin', 'random'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export type Fit =
  | { readonly ok: true; readonly workers: readonly string[] }
  | {
      readonly ok: false;
      readonly reason: 'no-workers' | 'unknown-scraper' | 'not-ready';
      /** What the workers that are alive have. */
      readonly scrapers: readonly string[];
    };

/** The workers that may be asked: their heartbeat is fresh, they run, are not paused, and have the scraper. */
export function pickFitWorkers(
  beats: readonly Beat[],
  scraper: string,
  when: { readonly now: number; readonly limits: LivenessLimits },
): Fit {
  const workers = beats.filter(({ role }) => role === 'worker');
  const alive = judgeLiveness(workers, when.now, when.limits)
    .filter(({ liveness }) => liveness === 'alive')
    .map(({ beat }) => beat);
  const scrapers = [...new Set(alive.flatMap((beat) => beat.scrapers ?? []))].sort();
  if (alive.length === 0) return { ok: false, reason: 'no-workers', scrapers };
  const having = alive.filter((beat) => beat.scrapers?.includes(scraper) === true);
  if (having.length === 0) return { ok: false, reason: 'unknown-scraper', scrapers };
  const ready = having.filter(({ status, paused }) => status === 'running' && !paused).map(({ id }) => id);
  if (ready.length === 0) return { ok: false, reason: 'not-ready', scrapers };
  return { ok: true, workers: ready.sort() };
}

export interface Turn {
  readonly strategy: Strategy;
  /** How many calls were routed before this one. */
  readonly turn: number;
  readonly random: number; // 0 ≤ … < 1
  /** Handlers that run there now; of one that did not say, nothing is assumed. */
  readonly loads: ReadonlyMap<string, number>;
}

/** The first is asked; the others stand in for it, in this order. */
export function orderWorkers(workers: readonly string[], { strategy, turn, random, loads }: Turn): string[] {
  const start =
    strategy === 'random' ? Math.floor(random * workers.length) : turn % Math.max(1, workers.length);
  const rotated = [...workers.slice(start), ...workers.slice(0, start)];
  if (strategy !== 'least_loaded') return rotated;
  // The sort keeps the order of equals, so workers with the same load take turns. Who says nothing comes last.
  const load = (worker: string): number => loads.get(worker) ?? Infinity;
  return rotated.sort((a, b) => (load(a) === load(b) ? 0 : load(a) - load(b)));
}

/** `refused`: it is full, paused or about to stop, and has done nothing. `lost`: it went away, or does not answer. */
export interface Try {
  readonly worker: string;
  readonly end: 'refused' | 'lost';
}

export type NextTry =
  | { readonly action: 'ask'; readonly worker: string }
  | { readonly action: 'give-up'; readonly reason: 'refused' | 'lost' };

/** A call that was lost may have been half done: it is tried once more, and not again. Refusals cost nothing. */
export function decideNextTry(order: readonly string[], tries: readonly Try[]): NextTry {
  const lost = tries.filter(({ end }) => end === 'lost').length;
  const worker = order.find((each) => !tries.some((tried) => tried.worker === each));
  if (lost > LOST_MAX || worker === undefined)
    return { action: 'give-up', reason: lost > 0 ? 'lost' : 'refused' };
  return { action: 'ask', worker };
}

const LOST_MAX = 1;
