/** In which lanes a worker stands. */
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
  /** Those of the others that run. */
  readonly others: readonly (readonly string[])[];
}

/**
 * Where it meets only what it can run. And where nobody can: somebody must come to each task, if only to bury it.
 * What a scraper left in the shared lanes when it got its own is not left to the others alone.
 */
export function decideStanding({ routes, has, others }: StandingFacts): Standing {
  const { shared, open, mixed } = routes;
  const fits = shared.every(has);
  const isServed = others.some((scrapers) => shared.every((scraper) => scrapers.includes(scraper)));
  const isElsewhere = (scraper: string): boolean => others.some((scrapers) => scrapers.includes(scraper));
  return {
    shared: fits || !isServed || mixed.some(has),
    own: open.filter((scraper) => has(scraper) || !isElsewhere(scraper)),
  };
}
