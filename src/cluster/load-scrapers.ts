/** The scrapers that the configuration names: handlers and templates alike. */
import type { CheckInput } from '../actors/coordinator/ports.ts';
import type { Config } from '../config/fields.ts';
import { loadScrapers, type Loaded } from '../scrapers/load.ts';
import { checkValue } from '../scrapers/standard-schema.ts';
import type { Log } from '../telemetry/log.ts';
import { loadTemplate } from '../templates/template-scraper.ts';

export function loadConfiguredScrapers({ worker }: Pick<Config, 'worker'>): Promise<Loaded> {
  return loadScrapers(worker.scrapers, { readTemplate: loadTemplate });
}

const NO_INPUT = {};

/** By the schemas of the scrapers that are here; others are checked where they run. */
export async function loadInputCheck(config: Pick<Config, 'worker'>, log: Log): Promise<CheckInput> {
  const { scrapers, problems } = await loadConfiguredScrapers(config);
  for (const { file, reason } of problems) log.warn('scraper.broken', { file, reason });
  const schemas = new Map(scrapers.map(({ name, input }) => [name, input]));
  return (scraper, input = NO_INPUT) => {
    const schema = schemas.get(scraper);
    return schema && check(schema, input);
  };
}

async function check(schema: Parameters<typeof checkValue>[0], input: unknown): Promise<string | undefined> {
  try {
    const checked = await checkValue(schema, input, 'input');
    return checked.ok ? undefined : checked.problem;
  } catch {
    // A schema that fails here is tried again by the worker, whose answer counts.
    return undefined;
  }
}
