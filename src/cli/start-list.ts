/** Where a run starts that is given no list: at the addresses that its scraper names. */
import { loadConfiguredScrapers } from '../cluster/load-scrapers.ts';
import type { Config } from '../config/fields.ts';
import type { TaskFile } from './task-lines.ts';

/** Undefined: the scraper is not here, or names none. */
export async function findStart(
  config: Pick<Config, 'worker'>,
  scraper: string,
): Promise<TaskFile | undefined> {
  const { scrapers } = await loadConfiguredScrapers(config);
  const start = scrapers.find(({ name }) => name === scraper)?.start ?? [];
  return start.length === 0 ? undefined : { bytes: undefined, bytesRead: () => 0, tasks: each(start) };
}

async function* each(urls: readonly string[]): AsyncGenerator<string> {
  yield* urls;
}
