/**
 * Which scrapers share lanes, and which get lanes of their own, by what the workers have.
 *
 * Scrapers that exactly the same workers have need no lanes apart: who can run one of them can run all. The largest
 * such group shares lanes; every other scraper has its own. Where all workers are alike, that is one group. What a
 * worker has that works for it alone is never shared: in the shared lanes it would meet what is none of its business.
 *
 * A scraper whose last worker has just left is awaited for a while: its tasks stay where nobody else stands.
 */
import type { Routes } from '../domain/routes.ts';

export interface Owner {
  readonly scrapers: readonly string[];
  /** It works for these alone. */
  readonly only?: boolean | undefined;
}

export interface RouteFacts {
  /** Those that run. Without any nothing changes: nobody is there to be served. */
  readonly workers: readonly Owner[];
  /** Scrapers that nobody has, and somebody had until a moment ago. */
  readonly awaited: readonly string[];
}

interface Group {
  readonly scrapers: string[];
  readonly owners: readonly number[];
}

export function planRoutes(before: Routes, { workers, awaited }: RouteFacts): Routes {
  if (workers.length === 0) return before;
  // All who stood in the shared lanes have left at once: what lies there is theirs when they are back.
  const areAwaited = before.shared.length > 0 && before.shared.every((scraper) => awaited.includes(scraper));
  const shared = areAwaited ? before.shared : (pickShared(before, workers)?.scrapers ?? []);
  const there = [...workers.flatMap(({ scrapers }) => scrapers), ...awaited];
  const own = [...new Set(there)].filter((scraper) => !shared.includes(scraper)).sort();
  const open = [...new Set([...before.open, ...own])].sort();
  return {
    shared,
    own,
    open,
    closed: before.closed.filter((scraper) => !open.includes(scraper)),
    mixed: before.mixed.filter((scraper) => own.includes(scraper)),
  };
}

/** The scrapers that tasks are still put apart for, or together, although no worker has them any more. */
export function findLacking({ shared, own }: Routes, workers: readonly Owner[]): string[] {
  return [...shared, ...own].filter((scraper) => !workers.some(({ scrapers }) => scrapers.includes(scraper)));
}

/**
 * Much may lie in the shared lanes. A group whose workers can run all of that counts twice, so that a worker who comes
 * or goes changes little, and nobody meets there what it cannot run.
 */
function pickShared(before: Routes, workers: readonly Owner[]): Group | undefined {
  const isSafe = ({ owners }: Group): boolean =>
    owners.every((owner) => before.shared.every((scraper) => workers[owner]?.scrapers.includes(scraper)));
  const ranked = groupsOf(workers)
    .filter(({ owners }) => !owners.some((owner) => workers[owner]?.only))
    .map((group) => ({ group, score: group.scrapers.length * (isSafe(group) ? 2 : 1) }));
  ranked.sort((a, b) => b.score - a.score || b.group.owners.length - a.group.owners.length);
  return ranked[0]?.group;
}

/** In the order of their first names, so that the same workers always lead to the same plan. */
function groupsOf(workers: readonly Owner[]): Group[] {
  const owners = new Map<string, number[]>();
  for (const [index, { scrapers }] of workers.entries())
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
