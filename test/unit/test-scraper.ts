/** The test kit that scrapers' authors use. */
import t from 'tap';
import { gzipSync } from 'node:zlib';
import type { Page } from '../../src/scrapers/page.ts';
import { readSitemap } from '../../src/scrapers/parse-page.ts';
import { Failure } from '../../src/domain/failure.ts';
import { defineScraper } from '../../src/scrapers/define.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { createLog, type Log } from '../../src/telemetry/log.ts';
import { loadTemplate } from '../../src/templates/template-scraper.ts';
import { testScraper, type SiteRequest, type TestOptions } from '../../src/testing/test-scraper.ts';

const fields = { title: { css: 'h1' }, next: { css: 'a', attr: 'href', type: 'url', all: true } } as const;
const pages = defineScraper({
  name: 'pages',
  limits: { delayMs: 1_000 },
  crawl: { depth: 2 },
  async run({ page, json, emit, enqueue, input }) {
    const here = await page();
    const { title, next } = here.extract(fields);
    emit({ title, currency: input['currency'] });
    for (const page of [1, 2]) emit('price', await json(new URL(`/api?page=${page}`, here.url)));
    return enqueue(next as string[]);
  },
});
const site = {
  '/': '<h1>Shop</h1><a href="/a">a</a><a href="https://other.test/">b</a>',
  '/api?page=1': { json: { price: 1 } },
  '/api?page=2': { json: { price: 2 } },
};

t.test('items, requests and what was enqueued; the pace is kept, and nobody waits for it', async (t) => {
  const startedMs = performance.now();
  const { items, requests, enqueued, error, data } = await testScraper(pages, {
    site,
    input: { currency: 'EUR' },
    depth: 1,
  });
  t.equal(error, undefined);
  t.same(items, [
    { title: 'Shop', currency: 'EUR' },
    { kind: 'price', data: { price: 1 } },
    { kind: 'price', data: { price: 2 } },
  ]);
  t.match(enqueued, [{ scraper: 'pages', url: 'https://site.test/a', depth: 2 }]);
  t.match(data, { enqueued: 1, refused: { outside: 1 } });
  t.same(
    requests.map(({ url, status }) => [url, status]),
    [
      ['https://site.test/', 200],
      ['https://site.test/api?page=1', 200],
      ['https://site.test/api?page=2', 200],
    ],
  );
  const [first = 0, second = 0, third = 0] = requests.map(({ atMs }) => atMs);
  t.ok(second - first >= 1_000 && third - second >= 1_000, `${first} ${second} ${third}`);
  t.ok(performance.now() - startedMs < 1_000);
});

const three = (limits: object): Scraper => ({
  name: 'three',
  limits,
  async run({ fetch }) {
    for (const path of ['/', '/a', '/b']) await fetch(`https://site.test${path}`);
  },
});

t.test('the pace is that of a worker, whatever it comes from', async (t) => {
  const pages = { '/': 'x', '/a': 'x', '/b': 'x' };
  const gapsOf = async (limits: object, options: TestOptions = {}): Promise<readonly number[]> => {
    const { requests, error } = await testScraper(three(limits), { site: pages, ...options });
    t.equal(error, undefined, JSON.stringify(limits));
    const starts = requests.map(({ atMs }) => atMs);
    return starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
  };
  for (const gap of await gapsOf({ egressDelayMs: 3_000 })) t.ok(gap >= 3_000, `${gap} per egress`);
  const random = Math.random;
  t.teardown(() => void (Math.random = random));
  Math.random = () => 0.5;
  for (const gap of await gapsOf({ delayMs: 1_000, jitter: 1 })) t.ok(gap >= 1_500, `${gap} stretched`);
  Math.random = random;
  const slow = { ...pages, '/robots.txt': 'User-agent: *\nCrawl-delay: 2' };
  for (const gap of await gapsOf({}, { site: slow, robots: true }))
    t.ok(gap >= 2_000, `${gap} by robots.txt`);
  for (const gap of await gapsOf({ delayMs: 60_000 })) t.ok(gap >= 60_000, `${gap} is waited for`);
  const late = await testScraper(three({ delayMs: 200_000 }), { site: pages });
  t.match(late, { error: { code: 'NO_EGRESS' }, requests: { length: 1 } }, 'what a worker would put off');
});

t.test('no more requests at once than the scraper allows itself', async (t) => {
  let now = 0;
  let most = 0;
  const site = async (): Promise<string> => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    now -= 1;
    return 'x';
  };
  const scraper: Scraper = {
    name: 'together',
    limits: { concurrency: 2 },
    run: ({ fetch }) => Promise.all([1, 2, 3, 4, 5].map((n) => fetch(`https://site.test/${n}`))),
  };
  const { requests, error } = await testScraper(scraper, { site });
  t.equal(error, undefined);
  t.equal(requests.length, 5);
  t.equal(most, 2);
});

t.test('a site that decides by the request', async (t) => {
  const seen: string[] = [];
  const answer = ({ method, url, headers, body }: SiteRequest) => {
    seen.push(`${method} ${url.pathname} ${headers['cookie'] ?? ''} ${body}`);
    if (url.pathname === '/login') return { status: 302, headers: { location: '/', 'Set-Cookie': 'sid=1' } };
    return headers['cookie'] === 'sid=1' ? 'in' : { status: 403, body: 'out' };
  };
  const login = defineScraper({
    name: 'login',
    async run({ fetch, emit }) {
      const { url } = await fetch('https://site.test/login', { method: 'POST', json: { user: 'me' } });
      emit(url);
    },
  });
  const { items, error } = await testScraper(login, { site: answer });
  t.equal(error, undefined);
  t.same(items, ['https://site.test/']);
  t.same(seen, ['POST /login  {"user":"me"}', 'GET / sid=1 ']);
  const blocked = await testScraper(pages, { site: answer });
  t.match(blocked, { items: [], error: { code: 'BLOCKED' } });
});

t.test('what fails, and when', async (t) => {
  t.match(await testScraper(pages, { site: {} }), { error: { code: 'REJECTED' }, enqueued: [] });
  t.match(await testScraper(pages, { site: { '/': { status: 500 } } }), { error: { code: 'TARGET' } });
  const throwing = defineScraper({
    name: 'throwing',
    async run({ enqueue }) {
      enqueue('https://site.test/');
      throw new Failure('INVALID', 'no');
    },
  });
  t.match(await testScraper(throwing), { error: { code: 'INVALID', message: 'no' }, enqueued: [] });
  const slow = defineScraper({ name: 'slow', run: () => new Promise(() => undefined) });
  const deaf = testScraper({ ...slow, timeoutMs: 10 });
  t.match(await deaf, { error: { code: 'TIMEOUT' } }, 'also one that does not listen');
});

t.test('set up and taken down with each', async (t) => {
  const steps: string[] = [];
  const scraper = defineScraper({
    name: 'steps',
    setup() {
      steps.push('setup');
      return 7;
    },
    async run({ shared }) {
      steps.push(`run ${shared}`);
      throw new Error('it fails');
    },
    teardown: (shared) => void steps.push(`teardown ${shared}`),
  });
  await testScraper(scraper);
  t.same(steps, ['setup', 'run 7', 'teardown 7']);
});

t.test('a site map leads to its pages, and its pages are kept apart', async (t) => {
  const scraper = defineScraper({
    name: 'mapped',
    async run({ page, fetch, enqueue }) {
      const { pages, maps } = (await page()).sitemap();
      enqueue([...pages, ...maps]);
      for (const { url } of pages) await fetch(url, { delayMs: 1_500 });
    },
  });
  const site = {
    '/sitemap.xml':
      '<urlset><url><loc>/a</loc><lastmod>2025-01-01</lastmod></url><url><loc>/b?x=1&amp;y=2</loc></url></urlset>',
    '/a': 'a',
    '/b?x=1&y=2': 'b',
  };
  const { enqueued, requests, error } = await testScraper(scraper, { site, url: '/sitemap.xml' });
  t.equal(error, undefined);
  t.same(
    enqueued.map(({ url }) => url),
    ['https://site.test/a', 'https://site.test/b?x=1&y=2'],
  );
  const [first = 0, second = 0, third = 0] = requests.map(({ atMs }) => atMs);
  t.ok(second - first >= 1_500 && third - second >= 1_500, `${first}, ${second}, ${third}`);
});

t.test('a site map that is stored packed is unpacked, and one that cannot be says so', async (t) => {
  const page = (body: Buffer): Page => ({ ...({} as Page), url: 'https://site.test/sitemap.xml.gz', body });
  const map = '<urlset><url><loc>/a</loc></url></urlset>';
  const log = (): Log => t.fail('nothing is left out') as never;
  t.same(readSitemap(page(gzipSync(map)), log).pages, [{ url: 'https://site.test/a' }]);
  t.throws(() => readSitemap(page(gzipSync(map).subarray(0, 20)), log), {
    code: 'TARGET',
    message: /cannot be unpacked/,
  });
  const bomb = page(gzipSync(Buffer.alloc(60 * 1024 * 1024)));
  t.throws(() => readSitemap(bomb, log), { code: 'TARGET' }, 'a bomb');
});

t.test('what a site map has too much of is told', async (t) => {
  const entries = Array.from({ length: 50_003 }, (_, n) => `<url><loc>/p/${n}</loc></url>`);
  const site = { '/sitemap.xml': `<urlset>${entries.join('')}</urlset>` };
  const said: unknown[] = [];
  const write = (line: string): void => void said.push(JSON.parse(line));
  const options = { site, url: '/sitemap.xml', log: createLog({ level: 'warn', format: 'json', write }) };
  const told = { event: 'sitemap.truncated', entries: 50_000, leftOut: 3, run: 'local' };

  const template = loadTemplate(
    'name: shop\nfollow:\n  - { sitemap: true, include: /p/1 }\n  - { sitemap: true, include: /p/2 }\n',
    'shop.yaml',
  );
  const { data, enqueued } = await testScraper(template, options);
  t.match(data, { followed: 2, refused: { excluded: 99_998, 'left-out': 3 } });
  t.equal(enqueued.length, 2);
  t.match(said.splice(0), [{ ...told, scraper: 'shop' }], 'once');

  const handler = defineScraper({
    name: 'mapped',
    run: async ({ page, enqueue }) => enqueue((await page()).sitemap().pages),
  });
  t.equal((await testScraper(handler, options)).enqueued.length, 50_000);
  t.match(said, [{ ...told, scraper: 'mapped' }]);
});
