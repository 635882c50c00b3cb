/** Which pages a budget still has room for. Pure: the caller says what was spent, and stores what this grants. */
import type { PageLimits } from '../domain/task.ts';

export interface Page {
  readonly id: string;
  readonly host: string;
}

export interface Spent {
  readonly run: number;
  readonly host: (host: string) => number;
  /** Pages that have their place: asking for one again takes no other. */
  readonly has: (id: string) => boolean;
}

export interface ClaimDecision {
  /** New ones, in the order in which they were asked for. */
  readonly granted: readonly Page[];
  /** What is spent with them, in the run and at each of their hosts. */
  readonly run: number;
  readonly hosts: ReadonlyMap<string, number>;
}

export function decideClaims(
  pages: readonly Page[],
  { pagesPerRun = Infinity, pagesPerHost = Infinity }: PageLimits,
  spent: Spent,
): ClaimDecision {
  const granted: Page[] = [];
  const hosts = new Map<string, number>();
  const seen = new Set<string>();
  for (const page of pages) {
    if (seen.has(page.id) || spent.has(page.id)) continue;
    const atHost = (hosts.get(page.host) ?? spent.host(page.host)) + 1;
    if (spent.run + granted.length >= pagesPerRun || atHost > pagesPerHost) continue;
    seen.add(page.id);
    hosts.set(page.host, atHost);
    granted.push(page);
  }
  return { granted, run: spent.run + granted.length, hosts };
}
