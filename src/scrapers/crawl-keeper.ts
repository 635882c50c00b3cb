/** The crawl rules of scrapers, compiled once, and what their crawls have planned so far. */
import { createCrawlBudget, type CrawlBudget } from '../policy/crawl-budget.ts';
import { createFollowPolicy, type DecideFollow } from '../policy/follow-links.ts';
import type { Scraper } from './scraper.ts';

export interface Crawl {
  /** Undefined: the scraper has no rules. */
  readonly follow: DecideFollow | undefined;
  readonly budget: CrawlBudget;
}

interface Rules {
  readonly fromPage: DecideFollow | undefined;
  readonly fromNowhere: DecideFollow | undefined;
  readonly budget: CrawlBudget;
}

const kept = new WeakMap<Scraper, Rules>();

/** `hasUrl`: a task without a page belongs to no site that its links could leave. */
export function crawlOf(scraper: Scraper, hasUrl: boolean): Crawl {
  let rules = kept.get(scraper);
  if (!rules) kept.set(scraper, (rules = compile(scraper)));
  return { follow: hasUrl ? rules.fromPage : rules.fromNowhere, budget: rules.budget };
}

function compile({ crawl }: Scraper): Rules {
  return {
    fromPage: crawl && createFollowPolicy(crawl),
    fromNowhere: crawl && createFollowPolicy({ ...crawl, within: 'anywhere' }),
    budget: createCrawlBudget(),
  };
}
