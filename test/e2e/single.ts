/** Single mode as a user meets it: one process, no cluster, a folder; killed, gone on with, interrupted, read. */
import t from 'tap';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { readLockHolder } from '../../src/local/home-lock.ts';
import { isAlive } from '../../src/local/process-identity.ts';
import { readClusterState, recordsOf } from '../../src/local/state.ts';
import { openDemoSite } from '../kit/demo-world.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { installTrawl, type Program } from '../kit/trawl.ts';
import type { Teardown } from '../kit/nats-server.ts';

const PAGES = 490;
const MISSING = 10;
const SLOTS = 10;

const SCRAPER = `
  export const scraper = {
    name: 'pages',
    retries: 0,
    async run({ url, fetch, emit }) {
      const page = await fetch(url);
      emit({ url, status: page.status });
    },
  };
`;

interface Answer {
  readonly status: string;
  readonly run_id: string;
  readonly enqueued: number;
  readonly data: string;
  readonly counts: Readonly<Record<string, number>>;
}

interface Row {
  readonly task: string;
  readonly url: string;
  readonly state: string;
  readonly error?: { readonly code: string };
}

async function install(t: Teardown, port: number, settings: Record<string, string> = {}): Promise<Program> {
  const trawl = await installTrawl(t, {
    TRAWL_FETCH_ALLOW_LOOPBACK: `127.0.0.1:${port}`,
    TRAWL_WORKER_CONCURRENCY: String(SLOTS),
    ...settings,
  });
  const folder = join(trawl.home, '..', 'config/scrapers');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pages.mjs'), SCRAPER);
  return trawl;
}

function lines(stdout: string): Row[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

t.test(
  'killed in the middle and gone on with: every URL has exactly one outcome',
  { timeout: 120_000 },
  async (t) => {
    const site = await openDemoSite(t, { products: PAGES + 1, logMax: 5_000 });
    const trawl = await install(t, site.port);
    const folder = join(trawl.home, 'single', 'friday');
    t.teardown(() => trawl.run('down', '--clean', '--home', folder));
    const urls = [
      ...Array.from({ length: PAGES }, (_, n) => `${site.url}/product/${n + 1}`),
      ...Array.from({ length: MISSING }, (_, n) => `${site.url}/nothing/${n + 1}`),
    ];
    const list = join(trawl.home, '..', 'urls.txt');
    writeFileSync(list, urls.join('\n'));

    // Slowly, so that there is time to kill it.
    const slowly = ['--egress-host-delay', '40ms'];
    const first = trawl.start('run', 'pages', '--urls-file', list, '--run-id', 'friday', ...slowly);
    const killed = once(first, 'exit');
    await untilSo(
      async () => site.log.length,
      (count) => count > 60,
      60_000,
    );
    const second = await trawl.run('run', 'pages', '--resume', 'friday');
    t.equal(second.code, 1);
    t.match(second.stderr, new RegExp(`^trawl: another process works in .*friday: pid ${first.pid ?? 0}\n`));
    first.kill('SIGKILL');
    await killed;
    const server = recordsOf(readClusterState(join(folder, 'cluster.json')));
    t.ok(server[0] && isAlive(server[0]), 'its server was left behind');
    t.ok(site.log.length < urls.length, `${site.log.length} requests were made by then`);

    const again = await trawl.run('run', 'pages', '--urls-file', list, '--run-id', 'friday');
    t.equal(again.code, 1);
    t.match(
      again.stderr,
      /run friday in .* has not ended\nGo on with it: npx trawl run pages --resume friday\n/,
    );

    const resumed = await trawl.run('run', 'pages', '--resume', '--json');
    t.equal(resumed.code, 4, `there are dead tasks ${resumed.stdout}${resumed.stderr}`);
    const answer = JSON.parse(resumed.stdout) as Answer;
    t.match(answer, {
      ...{ status: 'done_with_errors', run_id: 'friday', mode: 'single', data: folder, worker_command: null },
      counts: { total: PAGES + MISSING, done: PAGES, dead: MISSING, remaining: 0 },
    });
    t.notOk(server[0] && isAlive(server[0]), 'and was ended');
    t.equal(readLockHolder(folder), undefined);

    const all = lines((await trawl.run('results', 'friday', '--state', 'all')).stdout);
    t.same(all.map(({ url }) => url).sort(), [...urls].sort(), 'each URL once');
    t.equal(new Set(all.map(({ task }) => task)).size, urls.length);
    t.same(
      all.filter(({ state }) => state === 'dead').map(({ error }) => error?.code),
      Array.from({ length: MISSING }, () => 'REJECTED'),
    );
    const asked = site.log.filter(({ path }) => path.startsWith('/product/') || path.startsWith('/nothing/'));
    t.ok(asked.length <= urls.length + 10 * SLOTS, `${asked.length - urls.length} pages were fetched twice`);

    t.match((await trawl.run('dead', 'ls', '--run', 'friday')).stdout, /^10 dead tasks\./);
    t.match(await trawl.json('stats', 'friday'), { done: PAGES, dead: MISSING });
    t.match(await trawl.run('run', 'pages', '--resume'), {
      code: 2,
      stderr: /no run of pages to go on with/,
    });
    const ended = await trawl.run('run', 'pages', '--urls-file', list, '--run-id', 'friday');
    t.match(ended, { code: 1, stderr: /^trawl: run friday has ended \(done_with_errors\)\n/ });
  },
);

t.test('Ctrl-C finishes what is in hand and says how to go on', { timeout: 120_000 }, async (t) => {
  const site = await openDemoSite(t, { products: 300 });
  const trawl = await install(t, site.port, { TRAWL_EGRESS_HOST_DELAY: '20ms' });
  const data = join(trawl.home, '..', 'elsewhere');
  t.teardown(() => trawl.run('down', '--clean', '--home', data));
  const list = join(trawl.home, '..', 'urls.txt');
  const urls = Array.from({ length: 150 }, (_, n) => `${site.url}/product/${n + 1}?utm_source=list`);
  writeFileSync(list, urls.join('\n'));
  const child = trawl.start('run', 'pages', '--urls-file', list, '--data', data, '--drop-tracking');
  await untilSo(
    async () => site.log.length,
    (count) => count > 20,
    60_000,
  );
  child.kill('SIGINT');
  const [[code], said, warned] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout ?? Readable.from([])),
    text(child.stderr ?? Readable.from([])),
  ]);
  t.equal(code, 1);
  t.match(
    said,
    /^Run \S+ was interrupted: \d+ of 150 tasks are settled\. Go on with it:\n {2}npx trawl run pages --resume --data /,
  );
  t.equal(warned, '', 'quiet in a pipe');
  const settled = Number(/interrupted: (\d+)/.exec(said)?.[1]);
  const run = /^Run (\S+)/.exec(said)?.[1] ?? '';
  t.equal(lines((await trawl.run('results', run, '--data', data)).stdout).length, settled, 'none was lost');
  t.equal(
    (await trawl.run('run', 'pages', '--resume', '--urls-file', list, '--data', data)).stdout,
    `Run ${run} has ended (done): 150 done, 0 dead, 150 duplicates.\n`,
  );
  const asked = site.log.filter(({ path }) => path.startsWith('/product/'));
  t.equal(asked.length, 150, 'nothing was fetched twice: the list was read as it was at first');
  t.notMatch(JSON.stringify(site.log), 'utm_source');
});

t.test('where a run takes place', { timeout: 120_000 }, async (t) => {
  const trawl = await install(t, 1, { NATS_URL: 'nats://127.0.0.1:1' });
  const root = join(trawl.home, '..');
  const list = join(root, 'urls.txt');
  writeFileSync(list, '{"key":"k"}\n');
  writeFileSync(
    join(root, 'config/scrapers/near.mjs'),
    `export const scraper = { name: 'near', async run({ emit }) { emit(1); } };`,
  );
  writeFileSync(
    join(root, 'config/scrapers/far.mjs'),
    `export const scraper = { name: 'far', mode: 'distributed', async run({ emit }) { emit(1); } };`,
  );
  const run = (name: string, ...words: string[]): ReturnType<Program['run']> =>
    trawl.run('run', name, '--urls-file', list, ...words);
  const near = await run('near');
  t.equal(near.code, 0, near.stderr);
  t.equal(
    near.stderr,
    'near is a single scraper: it runs in this process, not on nats://127.0.0.1:1 (--distributed sends it there).\n',
  );
  t.equal((await run('near', '--distributed')).code, 3, 'to the cluster, which is not there');
  t.equal((await run('far')).code, 3, 'as it says itself');
  t.match(await run('far', '--single'), { code: 0, stdout: /1 done, 0 dead/, stderr: '' });
  t.match(await run('nobody', '--single'), { code: 2, stderr: /there is no scraper nobody in/ });
  t.match(await run('nobody'), { code: 3, stderr: /There is no scraper nobody in .*, so only a cluster/ });
  t.equal((await run('near', '--distributed', '--data', 'x')).code, 2);

  writeFileSync(join(root, 'config/scrapers.yaml'), 'near: { mode: distributed }\nfar: { mode: single }\n');
  t.equal((await run('near')).code, 3, 'as the registry says');
  t.match(await run('far'), { code: 0, stdout: /1 done, 0 dead/ });
  writeFileSync(join(root, 'config/scrapers.yaml'), 'far: { mode: sometimes }\n');
  t.match(await run('far'), {
    code: 2,
    stderr: /config\/scrapers\.yaml:1:14: .*must be one of single, distributed/,
  });
});

t.test(
  'a template that names where it starts needs no list, and reads site maps',
  { timeout: 60_000 },
  async (t) => {
    const site = await openDemoSite(t, { products: 40 });
    const trawl = await install(t, site.port);
    const template = `
name: mapped
start: http://127.0.0.1:${site.port}/sitemap.xml
pages:
  - match: /sitemap.xml
    follow: { sitemap: true, include: '/product/1*' }
  - match: /product/*
    fields: { id: { css: .offer, attr: data-id, type: integer, required: true } }
`;
    writeFileSync(join(trawl.home, '..', 'config/scrapers/mapped.yaml'), template);
    const { code, stdout, stderr } = await trawl.run('run', 'mapped', '--json');
    t.equal(code, 0, stderr);
    const answer = JSON.parse(stdout) as Answer;
    t.match(answer, { status: 'done', enqueued: 1, counts: { done: 12 } });
    const none = await trawl.run('run', 'pages');
    t.equal(none.code, 2);
    t.match(none.stderr, /urls-file/);
  },
);
