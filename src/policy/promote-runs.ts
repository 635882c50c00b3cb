/**
 * Which queued runs may start. Higher priority first, then the oldest; at most so many active ones per scraper and
 * in the cluster. A paused run leaves its place to others, and a standing run takes none: it is there for small
 * things that must not wait.
 */
import type { RunState } from './run-state.ts';

export interface RunInLine {
  readonly id: string;
  readonly scraper: string;
  readonly state: RunState;
  readonly priority: number;
  readonly createdAt: number; // epoch ms
  readonly standing: boolean;
}

export interface PromotionLimits {
  readonly maxActivePerScraper: number;
  readonly maxActive: number;
}

export const PROMOTION_DEFAULTS: PromotionLimits = { maxActivePerScraper: 1, maxActive: 100 };

export interface Promotions {
  /** Ids in the order in which they are to be activated. */
  readonly activate: readonly string[];
  readonly waiting: readonly { readonly id: string; readonly reason: 'scraper-full' | 'cluster-full' }[];
}

export function planPromotions(runs: readonly RunInLine[], limits: PromotionLimits): Promotions {
  const counted = runs.filter((run) => run.state === 'active' && !run.standing);
  let active = counted.length;
  const perScraper = new Map<string, number>();
  for (const { scraper } of counted) perScraper.set(scraper, (perScraper.get(scraper) ?? 0) + 1);

  const activate: string[] = [];
  const waiting: Promotions['waiting'][number][] = [];
  for (const run of runs.filter(({ state }) => state === 'queued').sort(inLine)) {
    const ofScraper = perScraper.get(run.scraper) ?? 0;
    if (run.standing) activate.push(run.id);
    else if (active >= limits.maxActive) waiting.push({ id: run.id, reason: 'cluster-full' });
    else if (ofScraper >= limits.maxActivePerScraper) waiting.push({ id: run.id, reason: 'scraper-full' });
    else {
      activate.push(run.id);
      active += 1;
      perScraper.set(run.scraper, ofScraper + 1);
    }
  }
  return { activate, waiting };
}

/** The id comes last, so that two coordinators never disagree. */
function inLine(a: RunInLine, b: RunInLine): number {
  return b.priority - a.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
