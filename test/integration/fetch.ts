/** Pages through the real proxy-manager, as the site saw them. */
import t from 'tap';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { openFakeProxy } from '../kit/demo-world.ts';
import { openFetchWorld, type FetchWorld } from '../kit/fetch-world.ts';
import { itemsOf, task, visitor } from '../kit/visitor.ts';

function pathsOf({ site }: FetchWorld, start = '/'): string[] {
  return site.log.filter(({ path }) => path.startsWith(start)).map(({ path }) => path);
}

t.test('one page: robots first, counted, told in metrics, and nothing is left of it', async (t) => {
  const world = await openFetchWorld(t);
  const worker = await world.start([visitor()]);
  const tasks = Array.from({ length: 30 }, (_, n) => task(`k${n}`, `${world.site.url}/product/${n + 1}`));
  const outcomes = await world.settle(tasks);
  for (const outcome of outcomes.values()) {
    t.match(itemsOf(outcome), [{ status: 200, egress: 'direct' }]);
    t.match(outcome, { result: { pages: 1 }, faults: [] });
    if (outcome.state === 'done') t.ok(outcome.result.bytes > 1_000);
  }
  const [first, ...rest] = pathsOf(world);
  t.equal(first, '/robots.txt', 'before anything else');
  t.equal(rest.filter((path) => path === '/robots.txt').length, 0, 'once');
  t.equal(rest.length, 30);
  t.match(world.site.log[3], { userAgent: 'trawl' });
  const text = await worker.registry.metrics();
  t.match(text, /trawl_fetches_total\{outcome="ok"\} 31/);
  t.match(text, /trawl_fetch_duration_seconds_count 31/);
  t.match(text, /trawl_fetch_bytes_total \d{4,}/);
  t.match(text, /trawl_fetch_sockets \d+/);

  worker.quiet();
  await worker.ended;
  t.same(worker.fetcher.stats(), { waiting: 0, starved: 0, leases: 0, sockets: 0, browserPages: 0 });
  t.equal(await world.leases(), 0);
});

t.test('what robots.txt forbids is never asked for', async (t) => {
  const world = await openFetchWorld(t);
  await world.start([visitor(), visitor({ name: 'rude', robots: false })]);
  const url = `${world.site.url}/private/x`;
  const outcomes = await world.settle([task('a', url), task('b', `${world.site.url}/product/1`)]);
  t.match(outcomes.get('a'), {
    state: 'dead',
    error: { code: 'REJECTED', message: /robots\.txt of .* does not allow \/private\/x/ },
  });
  t.equal(outcomes.get('b')?.state, 'done');
  t.same(pathsOf(world, '/private'), []);
  const rude = await world.settle([{ ...task('c', url), scraper: 'rude' }]);
  t.equal(rude.get('c')?.state, 'done', 'the scraper may say otherwise');
  const redirected = await world.settle([task('d', `${world.site.url}/redirect-to?url=/private/y`)]);
  t.match(redirected.get('d'), { state: 'dead', error: { code: 'REJECTED' } }, 'also after a redirect');
  t.same(pathsOf(world, '/private'), ['/private/x']);
});

t.test('a host that cannot say what it allows is left alone, and nobody is blamed', async (t) => {
  const world = await openFetchWorld(t, { site: { robots: { status: 503 } } });
  await world.start([visitor()]);
  const settled = world.settle([task('a', `${world.site.url}/product/1`)], 3_000);
  await t.rejects(settled, /0 of 1 tasks settled/);
  t.same(new Set(pathsOf(world)), new Set(['/robots.txt']));
});

t.test('the pace that robots.txt asks for is kept', async (t) => {
  const world = await openFetchWorld(t, { site: { robots: { disallow: [], crawlDelayS: 0.3 } } });
  await world.start([visitor()]);
  await world.start([visitor()]);
  const tasks = Array.from({ length: 8 }, (_, n) => task(`k${n}`, `${world.site.url}/product/${n + 1}`));
  await world.settle(tasks, 20_000);
  t.ok(world.site.seen.spacing() >= 298, `${world.site.seen.spacing()} ms`);
});

t.test('proxies take turns, the one unused for longest first', async (t) => {
  const world = await openFetchWorld(t);
  const proxies = await world.addProxies(3);
  await world.start([visitor({ robots: false })], { concurrency: 1 });
  for (let n = 0; n < 9; n += 1) await world.settle([task(`k${n}`, `${world.site.url}/product/${n + 1}`)]);
  const turns = world.site.log.map(({ egress }) => egress);
  t.same(turns, [...proxies, ...proxies, ...proxies]);
});

t.test('a proxy that fails is not tried again for the same task', async (t) => {
  const world = await openFetchWorld(t);
  const kinds = ['407', 'reset', '502'] as const;
  const proxies = await Promise.all(kinds.map((behaviour) => openFakeProxy(t, { kind: 'http', behaviour })));
  const good = await openFakeProxy(t, { kind: 'socks5' });
  await world.call('proxies.add', {
    proxies: [...proxies, good].map(({ url }, n) => ({ url, id: `p${n}` })),
  });
  await world.start([visitor()]);
  const outcome = (await world.settle([task('a', `${world.site.url}/product/1`)])).get('a');
  t.match(itemsOf(outcome), [{ status: 200, egress: 'p3' }]);
  t.same(outcome?.faults, [], 'swaps burn no attempt');
  t.same(
    proxies.map(({ log }) => log.length),
    [1, 1, 1],
  );
});

t.test(
  '429 closes the host for everybody until it said, and burns no attempt',
  { timeout: 60_000 },
  async (t) => {
    const world = await openFetchWorld(t);
    await world.start([visitor()], { concurrency: 1 });
    await world.start([visitor()], { concurrency: 1 });
    await world.settle([task('first', `${world.site.url}/product/1`)]);
    world.site.setRules([{ prefix: '/product', status: 429, retryAfterS: 3 }]);
    const refused = world.site.until(({ status }) => status === 429);
    const tasks = Array.from({ length: 5 }, (_, n) => task(`k${n}`, `${world.site.url}/product/${n + 1}`));
    const settled = world.settle(tasks, 30_000);
    const { atEpochMs } = await refused;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    world.site.setRules([]);
    const outcomes = await settled;
    const throttled = world.site.log.filter(({ status }) => status === 429);
    t.ok(throttled.length <= 2, `${throttled.length} were under way when it closed`);
    const later = world.site.log.filter(
      (record) => record.atEpochMs > (throttled.at(-1)?.atEpochMs ?? 0) && record.status === 200,
    );
    t.ok((later[0]?.atEpochMs ?? 0) - atEpochMs >= 2_950, 'nobody came before the time');
    t.equal(later.length, 5);
    for (const outcome of outcomes.values()) t.match(outcome, { state: 'done', faults: [] });
  },
);

t.test('a block sends the task another way; a page that is not the one counts as a block', async (t) => {
  const world = await openFetchWorld(t);
  const [p0 = '', p1 = ''] = await world.addProxies(2);
  const scraper = visitor({
    robots: false,
    blocks: [{ body: 'id="captcha"' }],
    validate: (page) => page.status !== 200 || page.text().includes('class="fine"') || 'no welcome',
  });
  const worker = await world.start([scraper]);
  // Each address is let in once, then it sees the captcha.
  const url = `${world.site.url}/captcha?after=1`;
  const outcomes = await world.settle([task('a', url)]);
  t.match(itemsOf(outcomes.get('a')), [{ egress: p0 }]);
  const second = await world.settle([task('b', url)]);
  t.match(itemsOf(second.get('b')), [{ egress: p1 }]);
  const soft = await world
    .settle([{ ...task('c', `${world.site.url}/health`) }], 2_000)
    .catch(() => undefined);
  t.equal(soft?.get('c')?.state ?? 'waiting', 'waiting');
  t.match(await worker.registry.metrics(), /trawl_fetches_total\{outcome="soft_block"\} [12]/);
});

t.test('a session signs in once, keeps its cookies and its address, and is used again', async (t) => {
  const world = await openFetchWorld(t);
  await world.addProxies(3);
  const scraper: Scraper = visitor({
    robots: false,
    egress: { session: true },
    isSessionValid: (session) => session.cookie('sid', world.site.url) !== undefined,
    async refreshSession({ fetch }) {
      await fetch(`${world.site.url}/login`, {
        method: 'POST',
        body: 'csrf=c5rf&user=demo&password=demo',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    },
  });
  await world.start([scraper], { concurrency: 1 });
  for (let n = 0; n < 4; n += 1) {
    const outcome = await world.settle([task(`k${n}`, `${world.site.url}/account`)]);
    t.match(itemsOf(outcome.get(`k${n}`)), [{ status: 200, text: /Hello/ }]);
  }
  const logins = world.site.log.filter(({ method }) => method === 'POST');
  t.ok(logins.length <= 3, `${logins.length} logins`);
  const byCookie = new Map<string, Set<string>>();
  for (const { cookie, egress } of world.site.log) {
    const sid = /sid=(\w+)/.exec(cookie ?? '')?.[1];
    if (sid !== undefined) byCookie.set(sid, (byCookie.get(sid) ?? new Set()).add(egress));
  }
  for (const egresses of byCookie.values()) t.equal(egresses.size, 1, 'never mixed');
});

t.test('a session that is not valid and cannot be mended makes no request', async (t) => {
  const world = await openFetchWorld(t);
  await world.start([visitor({ robots: false, egress: { session: true }, isSessionValid: () => false })]);
  await t.rejects(world.settle([task('a', `${world.site.url}/account`)], 1_500), /0 of 1/);
  t.same(pathsOf(world), []);
});

t.test('no proxy: waits, goes directly, or fails, as the scraper says', async (t) => {
  const world = await openFetchWorld(t);
  const via = 'proxy';
  await world.start([
    visitor({ egress: { via } }),
    visitor({ name: 'direct', egress: { via, whenNone: 'direct' } }),
    visitor({ name: 'fail', egress: { via, whenNone: 'fail' } }),
  ]);
  const url = `${world.site.url}/product/1`;
  const outcomes = await world.settle([
    { ...task('direct', url), scraper: 'direct' },
    { ...task('fail', url), scraper: 'fail' },
  ]);
  t.match(itemsOf(outcomes.get('direct')), [{ egress: 'direct' }]);
  t.match(outcomes.get('fail'), {
    state: 'dead',
    error: { code: 'REJECTED', message: /no proxy is available/ },
  });
  await t.rejects(world.settle([task('wait', url)], 1_500), /0 of 1/, 'it waits');
});

t.test('redirects: followed by hand, nothing of one origin goes to another, circles end', async (t) => {
  const world = await openFetchWorld(t);
  const other = await openFetchWorld(t);
  const { config } = world;
  t.ok(config);
  await world.start([visitor({ robots: false })]);
  const headers = { authorization: 'Bearer secret', 'x-mine': '1' };
  const outcomes = await world.settle([
    task('same', `${world.site.url}/redirect/3`, { headers }),
    task('loop', `${world.site.url}/redirect-loop/a`),
    task('many', `${world.site.url}/redirect/30`),
    task('away', `${world.site.url}/redirect-to?url=${encodeURIComponent(`${other.site.url}/headers`)}`, {
      headers,
    }),
    task('none', `${world.site.url}/redirect/3`, { maxRedirects: 0, accept: 'any' }),
  ]);
  t.match(itemsOf(outcomes.get('same')), [{ status: 200, text: 'arrived', redirects: { length: 3 } }]);
  t.match(outcomes.get('loop'), { state: 'dead', error: { code: 'REJECTED', message: /in a circle/ } });
  t.match(outcomes.get('many'), {
    state: 'dead',
    error: { code: 'REJECTED', message: /more than 10 times/ },
  });
  t.match(
    outcomes.get('away'),
    { state: 'dead', error: { code: 'REJECTED' } },
    'another port of this machine is not allowed',
  );
  t.same(other.site.log, []);
  t.match(itemsOf(outcomes.get('none')), [{ status: 302 }]);
  const last = world.site.log.find(({ path }) => path === '/redirect/0');
  t.ok(last?.rawHeaders.includes('Bearer secret'), 'within one origin it goes along');
});

t.test('a page that is kept is only asked about', async (t) => {
  const world = await openFetchWorld(t);
  await world.start([visitor()]);
  const url = `${world.site.url}/etag`;
  const outcomes = await world.settle([
    task('kept', [url, url], { cache: true }),
    task('asked', url, { etag: '"v1"' }),
  ]);
  t.match(itemsOf(outcomes.get('kept')), [
    { status: 200, fromCache: false, text: 'content "v1"' },
    { status: 200, fromCache: true, notModified: true, text: 'content "v1"' },
  ]);
  t.match(itemsOf(outcomes.get('asked')), [{ status: 304, notModified: true, fromCache: false, text: '' }]);
  t.match(outcomes.get('kept'), { result: { pages: 2 } });
});

t.test('statuses: what is an answer to the handler, and what becomes of the rest', async (t) => {
  const world = await openFetchWorld(t);
  await world.start([visitor({ retries: 0 })]);
  const status = (code: number): string => `${world.site.url}/status/${code}`;
  const outcomes = await world.settle([
    task('404', status(404)),
    task('404 wanted', status(404), { accept: [404] }),
    task('500', status(500)),
    task('local', 'http://127.0.0.1:1/'),
    task('bad', 'ftp://x.example/'),
  ]);
  t.match(outcomes.get('404'), { state: 'dead', error: { code: 'REJECTED', message: /status 404/ } });
  t.match(itemsOf(outcomes.get('404 wanted')), [{ status: 404 }]);
  t.match(outcomes.get('500'), { state: 'dead', error: { code: 'TARGET' } });
  t.match(outcomes.get('local'), { state: 'dead', error: { code: 'REJECTED' } });
  t.match(outcomes.get('bad'), { state: 'dead', error: { code: 'INVALID' } });
});
