/** What the text of a robots.txt means for us. */
import robotsParser from 'robots-parser';

export interface RobotsRules {
  readonly allows: (url: string) => boolean;
  readonly crawlDelayMs: number;
}

interface Parsed {
  isAllowed(url: string, userAgent: string): boolean | undefined;
  getCrawlDelay(userAgent: string): number | undefined;
}

// Its types describe a default export, where it is the module itself.
const parse = robotsParser as unknown as (url: string, text: string) => Parsed;

const CRAWL_DELAY_MAX_MS = 60_000;
/** Both schemes of a host are asked about with the rules that one of them gave, so the place is left out. */
const PLACE = 'http://site.invalid';

export function parseRules(text: string, userAgent: string): RobotsRules {
  const rules = parse(`${PLACE}/robots.txt`, text);
  return {
    allows(url) {
      const { pathname, search } = new URL(url);
      return rules.isAllowed(`${PLACE}${pathname}${search}`, userAgent) ?? true;
    },
    crawlDelayMs: Math.min(CRAWL_DELAY_MAX_MS, Math.max(0, rules.getCrawlDelay(userAgent) ?? 0) * 1_000),
  };
}
