/**
 * A worker in a process of its own whose tasks lead to others, to be killed at any moment.
 *
 *   tree     emits its key, and enqueues `width` children until `levels` is used up, and one task that all of them share
 *   parse    emits ten raw items, and enqueues them all for `process`
 *   process  emits its item
 *   site     fetches a page that is a list of addresses, and follows sixty of them in a run
 *   hosts    the same, and twenty at each host
 */
import { connectNats } from '../../src/nats/connect.ts';
import { defineScraper } from '../../src/scrapers/define.ts';
import type { Scraper, ScraperContext } from '../../src/scrapers/scraper.ts';
import { quietLog } from './nats-server.ts';
import { startWorker } from './task-worker.ts';

const [url = '', worker = '', leaseMs = ''] = process.argv.slice(2);
const connection = await connectNats({
  access: { url: [url] },
  name: worker,
  log: quietLog,
  whenUnreachable: 'wait',
});
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 8));

const readLinks = async ({ url = '', emit, enqueue }: ScraperContext): Promise<void> => {
  await pause();
  const page = await fetch(url);
  emit({ url });
  enqueue((await page.json()) as string[]);
};

const scrapers: Scraper[] = [
  defineScraper({ name: 'site', crawl: { within: 'anywhere', pagesPerRun: 60 }, run: readLinks }),
  defineScraper({ name: 'hosts', crawl: { within: 'anywhere', pagesPerHost: 20 }, run: readLinks }),
  defineScraper({
    name: 'tree',
    async run({ task, input, emit, enqueue }) {
      const { key = '' } = task;
      await pause();
      emit({ key, depth: task.depth ?? 0, parent: task.parent });
      const { levels, width } = input as { levels: number; width: number };
      if (levels === 0) return;
      enqueue(
        Array.from({ length: width }, (_, i) => ({
          key: `${key}.${i}`,
          input: { levels: levels - 1, width },
        })),
      );
      enqueue({ key: 'shared', input: { levels: 0, width } });
    },
  }),
  defineScraper({
    name: 'parse',
    async run({ input, emit, enqueue }) {
      await pause();
      const items = Array.from({ length: 10 }, (_, i) => ({ n: Number(input['page']) * 10 + i }));
      for (const item of items) emit('raw', item);
      enqueue('process', items);
    },
  }),
  defineScraper({
    name: 'process',
    async run({ input, emit }) {
      await pause();
      emit('processed', { n: input['n'] });
    },
  }),
];

const { ended } = startWorker(
  { teardown: () => undefined },
  { connection, scrapers, limits: { worker, leaseMs: Number(leaseMs), concurrency: 8, prefetchMax: 20 } },
);
await ended;
