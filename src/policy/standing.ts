/**
 * In which lanes a worker stands: where it meets only what it can run. And where nobody can: somebody must come to each
 * task, if only to bury it. What was awaited until a moment ago is not met, because whoever had it may come back; the
 * coordinator counts that time. A worker that works for one scraper alone comes to nothing else.
 */
import type { Routes } from '../domain/routes.ts';

export interface Standing {
  readonly shared: boolean;
  /** The scrapers in whose own lanes it stands. */
  readonly own: readonly string[];
}

export interface StandingFacts {
  readonly routes: Routes;
  /** The scrapers of this worker. */
  readonly has: (scraper: string) => boolean;
  /** It works for one scraper alone. */
  readonly only: boolean;
  /** Those of the others that run. */
  readonly others: readonly (readonly string[])[];
}

/** Who may run a task that this worker cannot: somebody who is there, somebody who may come, or nobody. */
export type Absence = 'elsewhere' | 'awaited' | 'nobody';

/** What a scraper left in the shared lanes when it got its own is not left to the others alone. */
export function decideStanding({ routes, has, only, others }: StandingFacts): Standing {
  const { shared, own, open, mixed } = routes;
  if (only) return { shared: !own.some(has) || mixed.some(has), own: open.filter(has) };
  const isElsewhere = (scraper: string): boolean => others.some((scrapers) => scrapers.includes(scraper));
  const fits = shared.every(has);
  const isServed = others.some((scrapers) => shared.every((scraper) => scrapers.includes(scraper)));
  const isAwaited = shared.some((scraper) => !has(scraper) && !isElsewhere(scraper));
  return {
    shared: fits || !(isServed || isAwaited) || mixed.some(has),
    own: open.filter((scraper) => has(scraper) || !(own.includes(scraper) || isElsewhere(scraper))),
  };
}

/** For a task that is met all the same, while somebody comes or goes. */
export function judgeAbsence(scraper: string, { routes, only, others }: Omit<StandingFacts, 'has'>): Absence {
  if (others.some((scrapers) => scrapers.includes(scraper))) return 'elsewhere';
  return only || routes.shared.includes(scraper) || routes.own.includes(scraper) ? 'awaited' : 'nobody';
}
