/** The scrapers that a worker knows, by name. */
import type { Scraper } from './scraper.ts';

export interface Registry {
  find(name: string): Scraper | undefined;
  names(): readonly string[];
}

/** The first of a name wins; the built-in ones come last, so that a user's own may stand in for them. */
export function createRegistry(scrapers: readonly Scraper[]): Registry {
  const byName = new Map<string, Scraper>();
  for (const scraper of scrapers) if (!byName.has(scraper.name)) byName.set(scraper.name, scraper);
  return { find: (name) => byName.get(name), names: () => [...byName.keys()].sort() };
}
