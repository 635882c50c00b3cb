/** The crawl rules of scrapers, compiled once. */
import type { PageBudget } from '../domain/task.ts';
import { createFollowPolicy, pageLimitsOf, type DecideFollow } from '../policy/follow-links.ts';
import type { Scraper } from './scraper.ts';

export interface Crawl {
  /** Undefined: the scraper has no rules. */
  readonly follow: DecideFollow | undefined;
  /** Of what its own links lead to. */
  readonly budget: PageBudget | undefined;
}

interface Rules {
  readonly fromPage: DecideFollow | undefined;
  readonly fromNowhere: DecideFollow | undefined;
  readonly budget: PageBudget | undefined;
}

const kept = new WeakMap<Scraper, Rules>();

/** `hasUrl`: a task without a page belongs to no site that its links could leave. */
export function crawlOf(scraper: Scraper, hasUrl: boolean): Crawl {
  let rules = kept.get(scraper);
  if (!rules) kept.set(scraper, (rules = compile(scraper)));
  return { follow: hasUrl ? rules.fromPage : rules.fromNowhere, budget: rules.budget };
}

function compile({ name, crawl }: Scraper): Rules {
  const limits = crawl && pageLimitsOf(crawl);
  return {
    fromPage: crawl && createFollowPolicy(crawl),
    fromNowhere: crawl && createFollowPolicy({ ...crawl, within: 'anywhere' }),
    budget: limits && { scope: name, ...limits },
  };
}
