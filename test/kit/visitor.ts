/** A scraper that fetches what its task says, and what came of it. */
import type { Outcome } from '../../src/domain/task.ts';
import type { FetchOptions } from '../../src/scrapers/page.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';

/** Fetches what its input says, and emits what it got. */
export function visitor(change: Partial<Scraper> = {}): Scraper {
  return {
    name: 'visit',
    async run({ input, fetch, emit }) {
      const urls = [input['url'] ?? input['urls'] ?? []].flat() as string[];
      for (const url of urls) {
        const page = await fetch(url, input['options'] as FetchOptions | undefined);
        const { status, egress, redirects, fromCache, notModified } = page;
        emit({ url: page.url, status, egress, redirects, fromCache, notModified, text: page.text() });
      }
    },
    ...change,
  };
}

export function task(
  key: string,
  url: string | string[],
  options?: FetchOptions,
): {
  key: string;
  scraper: string;
  input: Record<string, unknown>;
} {
  return { key, scraper: 'visit', input: { ...(Array.isArray(url) ? { urls: url } : { url }), options } };
}

export interface Item {
  readonly url: string;
  readonly status: number;
  readonly egress: string;
  readonly text: string;
}

export function itemsOf(outcome: Outcome | undefined): Item[] {
  if (outcome?.state !== 'done') throw new Error(JSON.stringify(outcome));
  return outcome.result.items as Item[];
}
