/** Counts the pages that runs have planned, in all and by host. Whoever sees every page of a run keeps it exact. */

export interface CrawlBudget {
  readonly spentRun: (run: string) => number;
  readonly spentHost: (run: string, host: string) => number;
  /** `page`: what it is known by; one that was added before is not counted again. */
  readonly add: (run: string, host: string, page?: string) => void;
  readonly forget: (run: string) => void;
}

interface Spent {
  total: number;
  readonly hosts: Map<string, number>;
  readonly pages: Set<string>;
}

/** Runs that are remembered at once; of more, the one that was quiet for longest is forgotten. */
const RUNS_MAX = 100;
/** Hosts of one run; those beyond are counted together, which can only make a budget stricter. */
const HOSTS_MAX = 100_000;
/** Pages of one run that are known; those beyond are counted each time, which can only make a budget stricter. */
const PAGES_MAX = 200_000;
const OTHERS = '';

export function createCrawlBudget(): CrawlBudget {
  const runs = new Map<string, Spent>();
  const keyOf = (spent: Spent, host: string): string =>
    spent.hosts.has(host) || spent.hosts.size < HOSTS_MAX ? host : OTHERS;
  return {
    spentRun: (run) => runs.get(run)?.total ?? 0,
    spentHost(run, host) {
      const spent = runs.get(run);
      return spent?.hosts.get(keyOf(spent, host)) ?? 0;
    },
    add(run, host, page) {
      const spent = runs.get(run) ?? { total: 0, hosts: new Map<string, number>(), pages: new Set<string>() };
      runs.delete(run);
      runs.set(run, spent);
      if (page !== undefined) {
        if (spent.pages.has(page)) return;
        if (spent.pages.size < PAGES_MAX) spent.pages.add(page);
      }
      const key = keyOf(spent, host);
      spent.total += 1;
      spent.hosts.set(key, (spent.hosts.get(key) ?? 0) + 1);
      const [oldest] = runs.keys();
      if (runs.size > RUNS_MAX && oldest !== undefined) runs.delete(oldest);
    },
    forget: (run) => void runs.delete(run),
  };
}
