/** Everything a worker fetches with, made when its first task asks for a page: a worker that fetches nothing pays nothing. */
import { compileRules } from '../policy/block-rules.ts';
import type { Scraper } from '../scrapers/scraper.ts';
import { readEgressPolicy } from './egress-policy.ts';
import { createAttemptFetch, type AttemptFetch, type AttemptFetchFacts } from './attempt-fetch.ts';
import type { FetchParts } from './fetch-parts.ts';

export interface Fetcher {
  open(attempt: Omit<AttemptFetchFacts, 'rules' | 'policy'>): AttemptFetch;
  stats(): FetcherStats;
  /** Gives every lease back and closes every socket. */
  close(): Promise<void>;
}

export interface FetcherStats {
  readonly waiting: number;
  /** Attempts that wait for leave to send a request. */
  readonly starved: number;
  readonly leases: number;
  readonly sockets: number;
  readonly browserPages: number;
}

const IDLE: FetcherStats = { waiting: 0, starved: 0, leases: 0, sockets: 0, browserPages: 0 };

export function createFetcher(assemble: () => FetchParts): Fetcher {
  const read = new WeakMap<Scraper, Pick<AttemptFetchFacts, 'rules' | 'policy'>>();
  let made: FetchParts | undefined;
  return {
    open(attempt) {
      made ??= assemble();
      return createAttemptFetch({ ...attempt, ...wishesOf(attempt.scraper, made) }, made);
    },
    stats: () => (made ? statsOf(made) : IDLE),
    async close() {
      if (!made) return;
      // First the sockets: what is still under way ends, and is told about with the last report.
      made.circuits.close();
      await Promise.all([made.engine.close(), made.browser.close()]);
      await made.pool.close();
    },
  };

  function statsOf({ pool, engine, browser }: FetchParts): FetcherStats {
    const { pages, sockets } = browser.stats();
    return { ...pool.stats(), sockets: engine.stats().sockets + sockets, browserPages: pages };
  }

  /** What a scraper says about its fetching, read once. */
  function wishesOf(scraper: Scraper, { settings }: FetchParts): Pick<AttemptFetchFacts, 'rules' | 'policy'> {
    let wishes = read.get(scraper);
    if (!wishes) {
      const policy = readEgressPolicy(scraper, settings.egress);
      read.set(scraper, (wishes = { rules: compileRules(scraper.blocks ?? []), policy }));
    }
    return wishes;
  }
}
