/** The scraper of the chaos test: fetches a page, emits one item, and notes what it does in the history. */
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../../src/domain/failure.ts';
import type { Scraper, ScraperContext } from '../../../src/scrapers/scraper.ts';
import { openHistory } from './history.ts';
import type { TaskKind } from './story.ts';

export const SCRAPER = 'chaos';

export interface ChaosScraperOptions {
  readonly history: string;
  readonly leaseMs: number;
  readonly retries: number;
}

const AGAIN_MS = 300;
const POISON_MS = 30;

export function createChaosScraper({ history: file, leaseMs, retries }: ChaosScraperOptions): Scraper {
  const history = openHistory(file);
  return { name: SCRAPER, retries, run };

  async function run(context: ScraperContext): Promise<void> {
    const { run: name, id } = context.task;
    const facts = { task: `${name}.${id}`, pid: process.pid };
    history.add({ type: 'begin', at: Date.now(), ...facts });
    try {
      await scrape(context, context.url ?? '');
    } catch (error) {
      const outcome = error instanceof Failure && error.code === 'THROTTLED' ? 'deferred' : 'failed';
      history.add({ type: 'end', at: Date.now(), ...facts, outcome });
      throw error;
    }
    history.add({ type: 'end', at: Date.now(), ...facts, outcome: 'done' });
  }

  async function scrape(context: ScraperContext, url: string): Promise<void> {
    const kind = new URL(url).pathname.split('/')[1] as TaskKind;
    if (kind === 'poison') {
      await delay(POISON_MS);
      process.kill(process.pid, 'SIGKILL');
    }
    if (kind === 'silent') await delay(1.5 * leaseMs);
    if (kind === 'slow') {
      for (let part = 0; part < 6; part += 1) {
        await delay(leaseMs / 4);
        context.progress();
      }
    }
    await fetchPage(url);
    context.emit(url);
  }
}

async function fetchPage(url: string): Promise<void> {
  const response = await fetch(url);
  await response.arrayBuffer();
  if (response.status === 503)
    throw Object.assign(new Failure('THROTTLED', 'the site asks to wait'), {
      retryAtMs: Date.now() + AGAIN_MS,
    });
  if (!response.ok) throw new Failure('NETWORK', `the site answers ${response.status}`);
}
