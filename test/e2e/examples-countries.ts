/** The country registry: India on the cluster, Russia in one process, by the same code and the same command. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDemoSite } from '../kit/demo-world.ts';
import { example } from '../kit/example-world.ts';
import { installTrawl } from '../kit/trawl.ts';

const URLS = 10_000;
const RUSSIA = 300;

interface Queued {
  readonly status: string;
  readonly run_id: string;
  readonly enqueued: number;
  readonly worker_command: string | null;
}

const site = await openDemoSite(t, { products: URLS, logMax: 3 * URLS });
const trawl = await installTrawl(t, {
  WORKERS: '2',
  TRAWL_REGISTRY: example('countries/registry.yaml'),
  TRAWL_WORKER_SCRAPERS: example('countries/scrapers'),
  TRAWL_WORKER_CONCURRENCY: '30',
  TRAWL_FETCH_ALLOW_LOOPBACK: `127.0.0.1:${site.port}`,
});
const listOf = (name: string, count: number): string => {
  const file = join(trawl.home, '..', name);
  const urls = Array.from({ length: count }, (_, n) => `${site.url}/api/product/${n + 1}`);
  writeFileSync(file, urls.join('\n'));
  return file;
};

t.test('Russia runs here: no cluster, nothing queued for anybody', { timeout: 60_000 }, async (t) => {
  const answer = await trawl.json<Queued>('run', 'russia', '--urls-file', listOf('russia.txt', RUSSIA));
  t.match(answer, { status: 'done', mode: 'single', enqueued: RUSSIA, worker_command: null });
  const { stdout } = await trawl.run('results', answer.run_id);
  t.equal(stdout.match(/"country":"russia"/g)?.length, RUSSIA);
});

t.test('India runs on the cluster: 10,000 addresses, each once', { timeout: 120_000 }, async (t) => {
  await trawl.json('up');
  const file = listOf('india.txt', URLS);
  const queued = await trawl.json<Queued>('run', 'india', '--urls-file', file);
  t.match(queued, { status: 'queued', enqueued: URLS, worker_command: / worker --scraper india --run-id / });
  t.match(queued.run_id, /^\d{8}_\d{6}/);
  const watched = await trawl.run('watch', queued.run_id);
  t.equal(watched.code, 0, watched.stdout + watched.stderr);
  t.match(watched.stdout, /10,000 done, 0 dead\.\n$/);
  const { stdout } = await trawl.run('results', queued.run_id, '--format', 'csv');
  const ids = new Set([...stdout.matchAll(/,india,(\d+),/g)].map(([, id]) => id));
  t.equal(ids.size, URLS);
});
