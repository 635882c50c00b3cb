/**
 * Which scrapers share lanes, and which get lanes of their own, by what the workers have.
 *
 * Scrapers that exactly the same workers have need no lanes apart: who can run one of them can run all. The largest
 * such group shares lanes; every other scraper has its own. Where all workers are alike, that is one group.
 */
import type { Routes } from '../domain/routes.ts';

interface Group {
  readonly scrapers: string[];
  readonly owners: readonly number[];
}

/** `workers`: for each that runs, the scrapers it has. Without any nothing changes: nobody is there to be served. */
export function planRoutes(before: Routes, workers: readonly (readonly string[])[]): Routes {
  if (workers.length === 0) return before;
  const shared = pickShared(before, workers)?.scrapers ?? [];
  const own = [...new Set(workers.flat())].filter((scraper) => !shared.includes(scraper)).sort();
  const open = [...new Set([...before.open, ...own])].sort();
  return {
    shared,
    own,
    open,
    closed: before.closed.filter((scraper) => !open.includes(scraper)),
    mixed: before.mixed.filter((scraper) => own.includes(scraper)),
  };
}

/**
 * Much may lie in the shared lanes. A group whose workers can run all of that counts twice, so that a worker who comes
 * or goes changes little, and nobody meets there what it cannot run.
 */
function pickShared(before: Routes, workers: readonly (readonly string[])[]): Group | undefined {
  const isSafe = ({ owners }: Group): boolean =>
    owners.every((owner) => before.shared.every((scraper) => workers[owner]?.includes(scraper)));
  const ranked = groupsOf(workers).map((group) => ({
    group,
    score: group.scrapers.length * (isSafe(group) ? 2 : 1),
  }));
  ranked.sort((a, b) => b.score - a.score || b.group.owners.length - a.group.owners.length);
  return ranked[0]?.group;
}

/** In the order of their first names, so that the same workers always lead to the same plan. */
function groupsOf(workers: readonly (readonly string[])[]): Group[] {
  const owners = new Map<string, number[]>();
  for (const [index, scrapers] of workers.entries())
    for (const scraper of new Set(scrapers)) owners.set(scraper, [...(owners.get(scraper) ?? []), index]);
  const groups = new Map<string, Group>();
  for (const scraper of [...owners.keys()].sort()) {
    const who = owners.get(scraper) ?? [];
    const group = groups.get(who.join()) ?? { scrapers: [], owners: who };
    group.scrapers.push(scraper);
    groups.set(who.join(), group);
  }
  return [...groups.values()];
}
