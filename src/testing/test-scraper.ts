/**
 * `trawl/testing`: runs one task of a scraper in a test. Everything that a worker does to a page happens here as well
 * (pace, cookies, redirects, the scraper's own checks); only the site is the test's, and it is reached directly, also by
 * scrapers that want a proxy. What a worker would put off, because its turn comes later than in some seconds, ends with
 * NO_EGRESS.
 */
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../config/load.ts';
import { Failure } from '../domain/failure.ts';
import type { BadItem } from '../domain/task.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import type { Clock } from '../runtime/clock.ts';
import { loadScrapers } from '../scrapers/load.ts';
import type { Scraper } from '../scrapers/scraper.ts';
import { loadTemplate } from '../templates/template-scraper.ts';
import { createFakeEngine, type FakeSite } from './fake-site.ts';
import { createLocalFetcher, loopbackOf } from './local-fetcher.ts';
import type { SeenRequest } from './recorded-engine.ts';
import { runOnce, type OnceOutcome, type OnceTask } from './run-once.ts';
import { createTestClock } from './test-clock.ts';

export { createTestClock } from './test-clock.ts';
export type { FakeSite, SiteAnswer, SiteRequest } from './fake-site.ts';
export type { SeenRequest } from './recorded-engine.ts';

export interface TestOptions extends OnceTask {
  /** Answers that are data, or a site that runs on this machine. */
  readonly site?: FakeSite | { readonly url: string };
  /** Without it: one that does not wait, for a site that is data; the system's for one that runs. */
  readonly clock?: Clock;
  /** Asks the site for robots.txt; only where this says so. */
  readonly robots?: boolean;
  readonly timeoutMs?: number;
  readonly log?: Log;
}

export interface Tested {
  readonly items: readonly unknown[];
  readonly badItems: readonly BadItem[];
  /** What `run` returned. */
  readonly data: unknown;
  /** What was sent, in the order in which the answers came. */
  readonly requests: readonly SeenRequest[];
  readonly enqueued: OnceOutcome['enqueued'];
  /** What the task would be dead of, or tried again for. */
  readonly error: OnceOutcome['error'];
}

/** The scraper of a file: a handler in JavaScript or TypeScript, or a template. */
export async function loadScraper(file: string | URL): Promise<Scraper> {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const { scrapers, problems } = await loadScrapers(path, { readTemplate: loadTemplate });
  const [scraper] = scrapers;
  if (scraper) return scraper;
  throw new Failure('INVALID', `${path}: ${problems[0]?.reason ?? 'there is no scraper in it'}`);
}

const BASE = 'https://site.test/';
const TIMEOUT_MS = 30_000;
const silent = createLog({ level: 'error', format: 'text', write: () => undefined });

/** `url` may be a path of the site. Without it, the front page. */
export async function testScraper(scraper: Scraper, options: TestOptions = {}): Promise<Tested> {
  const { site = {}, log = silent, timeoutMs = TIMEOUT_MS, input, key, depth } = options;
  const running = isRunning(site) ? site.url : undefined;
  const url = new URL(options.url ?? '/', running ?? BASE).href;
  const clock = options.clock ?? (running === undefined ? createTestClock() : undefined);
  const { fetcher, requests } = createLocalFetcher({
    config: configFor(running, options.robots === true),
    log,
    clock,
    engine: isRunning(site) ? undefined : createFakeEngine(site),
  });
  try {
    const task = { url, input, key, depth };
    const { result, enqueued, error } = await runOnce(scraper, task, { fetcher, log, timeoutMs });
    return {
      items: result?.items ?? [],
      badItems: result?.badItems ?? [],
      data: result?.data,
      requests,
      enqueued,
      error,
    };
  } finally {
    await fetcher.close();
  }
}

function isRunning(site: NonNullable<TestOptions['site']>): site is { readonly url: string } {
  const { url } = site as { readonly url?: unknown };
  return typeof url === 'string' && /^https?:\/\//.test(url);
}

function configFor(running: string | undefined, robots: boolean): ReturnType<typeof loadConfig>['config'] {
  const loopback = running === undefined ? undefined : loopbackOf(running);
  const flags = {
    'fetch.robots': String(robots),
    ...(loopback !== undefined && { 'fetch.allowLoopback': loopback }),
  };
  return loadConfig({ flags, env: {}, cwd: '/' }).config;
}
