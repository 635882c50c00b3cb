/** `defineScraper`: a scraper with its types. What it is given is checked here, so that a mistake names its field. */
import { parseDuration } from '../domain/duration.ts';
import { Failure } from '../domain/failure.ts';
import type { Scraper, ScraperContext, ScraperHooks, ScraperOptions } from './scraper.ts';
import type { StandardSchema } from './standard-schema.ts';

export interface ScraperDefinition<Given, Input, Item, Shared> extends ScraperOptions, ScraperHooks {
  /** Of what a task is given: tasks that do not fit are refused when they are submitted. */
  readonly input?: StandardSchema<Given, Input>;
  /** Of what is emitted: items that do not fit are kept apart and counted, and the others are stored. */
  readonly item?: StandardSchema<Item, unknown>;
  /** Hard limit of one attempt: `'5m'`, `'90s'`, or milliseconds. */
  readonly timeout?: string | number;
  /** Once per worker, before its first task of this scraper; what it returns is `shared` in the context. */
  setup?(parts: Pick<ScraperContext, 'log'>): Shared | Promise<Shared>;
  run(context: ScraperContext<Input, Item, Shared>): Promise<unknown>;
  /** When the worker ends, also after tasks have failed. */
  teardown?(shared: Shared): void | Promise<void>;
}

export interface DefinedScraper<Given, Input> extends Scraper {
  readonly input?: StandardSchema<Given, Input>;
}

type Fields = Readonly<Record<string, unknown>>;

export function defineScraper<Given = Fields, Input = Fields, Item = unknown, Shared = undefined>(
  definition: ScraperDefinition<Given, Input, Item, Shared>,
  // What it is assigned to says nothing about its types.
): DefinedScraper<NoInfer<Given>, NoInfer<Input>> {
  const { timeout, ...scraper } = definition;
  const defined = timeout === undefined ? scraper : { ...scraper, timeoutMs: readTimeout(timeout) };
  // The types of its context are narrower than those of every scraper; its own schema makes them true.
  return defined as DefinedScraper<Given, Input>;
}

function readTimeout(timeout: string | number): number {
  const ms = typeof timeout === 'number' ? timeout : parseDuration(timeout);
  if (ms !== undefined && Number.isFinite(ms) && ms > 0) return ms;
  throw new Failure('INVALID', `timeout must be a duration such as '90s', '5m' or '1h', not ${timeout}`);
}
