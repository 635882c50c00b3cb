/** Scrapers with a browser, in real workers under a real proxy-manager: the same leave, egress and sessions as without. */
import t from 'tap';
import { browsersHere, CAN_SANDBOX, needChromium } from '../kit/chromium.ts';
import { openFakeProxy } from '../kit/demo-world.ts';
import { openFetchWorld, type FetchWorld } from '../kit/fetch-world.ts';
import type { Page } from '../../src/scrapers/page.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { loadTemplate } from '../../src/templates/template-scraper.ts';
import { itemsOf, task, visitor } from '../kit/visitor.ts';

const path = needChromium(t);
const flags = {
  'browser.path': path ?? '',
  'browser.sandbox': String(CAN_SANDBOX),
  'browser.pages': '2',
  'browser.idle': '30s',
};
const VISITS = /<b id="visits">(\d+)<\/b>/;

function pathsOf({ site }: FetchWorld): string[] {
  return site.log.map(({ path: each }) => each).filter((each) => !each.startsWith('/assets'));
}

if (path !== undefined) {
  t.test('a scraper with a browser: robots, permits, redirects, and nothing is left', async (t) => {
    const world = await openFetchWorld(t, { flags });
    const worker = await world.start([visitor({ engine: 'browser' }), visitor({ name: 'plain' })]);
    const at = (where: string): string => world.site.url + where;
    const outcomes = await world.settle([
      task('rendered', at('/rendered'), { waitFor: '.product' }),
      task('moved', at('/redirect-to?url=/rendered'), { waitFor: '.product' }),
      task('forbidden', at('/private/x')),
      task('away', at('/redirect-to?url=/private/y')),
      task('missing', at('/status/404')),
      task('http', at('/rendered'), { engine: 'http' }),
      { ...task('by call', at('/rendered'), { engine: 'browser', waitFor: '.product' }), scraper: 'plain' },
      task('posted', at('/echo'), { method: 'POST' }),
      task('cookie', at('/echo'), { headers: { cookie: 'a=1' } }),
    ]);
    for (const key of ['rendered', 'moved', 'by call'])
      t.match(itemsOf(outcomes.get(key)), [{ status: 200, egress: 'direct', text: /data-id="10"/ }], key);
    t.match(itemsOf(outcomes.get('moved')), [
      { url: at('/rendered'), redirects: [at('/redirect-to?url=/rendered')] },
    ]);
    t.notMatch(itemsOf(outcomes.get('http'))[0]?.text, /data-id/);
    for (const key of ['forbidden', 'away', 'missing'])
      t.match(outcomes.get(key), { state: 'dead', error: { code: 'REJECTED' } }, key);
    for (const key of ['posted', 'cookie'])
      t.match(outcomes.get(key), { state: 'dead', error: { code: 'INVALID' } }, key);
    t.same(
      pathsOf(world).filter((each) => each.startsWith('/private')),
      [],
    );
    t.ok(
      world.site.log.every(({ userAgent }) => userAgent === 'trawl'),
      'it says who it is',
    );
    t.match(await worker.registry.metrics(), /trawl_fetch_browser_pages 0/);
    t.equal(browsersHere().length, 1);

    worker.quiet();
    await worker.ended;
    t.same(browsersHere(), []);
    t.match(worker.fetcher.stats(), { waiting: 0, leases: 0, sockets: 0, browserPages: 0 });
    t.equal(await world.leases(), 0);
  });

  t.test('a template with a browser has the items that scripts make', async (t) => {
    const shelf = (name: string, engine: string): Scraper =>
      loadTemplate(
        `name: ${name}
${engine}
items:
  each: li.product
  fields: { id: { attr: data-id, type: integer, required: true }, name: {} }`,
        `${name}.yaml`,
      );
    const world = await openFetchWorld(t, { flags: { ...flags, 'fetch.robots': 'false' } });
    await world.start([
      shelf('scripted', 'engine: browser\nwaitFor: .product'),
      shelf('bare', 'engine: http'),
    ]);
    const url = `${world.site.url}/rendered?ms=200`;
    const outcomes = await world.settle([
      { key: 'scripted', scraper: 'scripted', url },
      { key: 'bare', scraper: 'bare', url },
    ]);
    const found = itemsOf(outcomes.get('scripted')) as readonly unknown[];
    t.equal(found.length, 10);
    t.match(found[0], { id: 1, name: /\S/ });
    t.match(outcomes.get('scripted'), { result: { published: 10, total: 10, errors: 0, pages: 1 } });
    t.same(itemsOf(outcomes.get('bare')), [], 'they are not in the page as it is sent');
  });

  t.test('the pace of the host is that of pages', async (t) => {
    const world = await openFetchWorld(t, { flags: { ...flags, 'fetch.robots': 'false' } });
    await world.start([visitor({ engine: 'browser', limits: { delayMs: 400 } })]);
    const tasks = [1, 2, 3, 4].map((n) => task(`k${n}`, `${world.site.url}/product/${n}`));
    await world.settle(tasks, 30_000);
    const look = { path: /^\/product/ };
    t.equal(world.site.log.filter(({ path: each }) => look.path.test(each)).length, 4);
    const starts = world.site.log
      .filter(({ path: each }) => look.path.test(each))
      .map((each) => each.startMs);
    const gaps = starts.slice(1).map((start, n) => start - (starts[n] ?? 0));
    t.ok(Math.min(...gaps) >= 398, `${Math.min(...gaps)} ms`);
  });

  t.test('cookies of a session go into the browser and come back, also between the engines', async (t) => {
    const world = await openFetchWorld(t, { flags: { ...flags, 'fetch.robots': 'false' } });
    const egress = { session: true };
    const first = await world.start([visitor({ engine: 'browser', egress })], { concurrency: 1 });
    const url = `${world.site.url}/rendered`;
    const counts: (string | undefined)[] = [];
    for (const key of ['a', 'b', 'c']) {
      const outcomes = await world.settle([task(key, url, { waitFor: '.product' })]);
      counts.push(VISITS.exec(itemsOf(outcomes.get(key))[0]?.text ?? '')?.[1]);
    }
    t.same(counts, ['1', '2', '3'], 'tasks of one session go on where the last one was');
    const echoed = await world.settle([task('d', `${world.site.url}/headers`, { engine: 'http' })]);
    t.match(itemsOf(echoed.get('d'))[0]?.text, /visits=3/, 'without the browser as well');

    first.quiet();
    await first.ended;
    await world.start([visitor({ engine: 'browser', egress })], { concurrency: 1 });
    const outcomes = await world.settle([task('e', url, { waitFor: '.product' })]);
    t.equal(VISITS.exec(itemsOf(outcomes.get('e'))[0]?.text ?? '')?.[1], '4', 'and on another worker');
  });

  t.test('through the proxy that was granted, and blocked there', async (t) => {
    const world = await openFetchWorld(t, { flags: { ...flags, 'fetch.robots': 'false' } });
    const credentials = { username: 'user', password: 'hunter2' };
    for (const n of [0, 1]) {
      const kind = n === 0 ? 'http' : 'socks5';
      const proxy = await openFakeProxy(t, { kind, outAddress: `127.0.0.${n + 2}`, credentials });
      world.site.nameAddress(`127.0.0.${n + 2}`, `p${n}`);
      await world.call('proxies.add', { url: proxy.url, id: `p${n}` });
    }
    const classify = ({ egress }: Page): 'blocked' | undefined => (egress === 'p0' ? 'blocked' : undefined);
    await world.start([visitor({ engine: 'browser', classify })], { concurrency: 1 });
    const outcomes = await world.settle([
      task('a', `${world.site.url}/rendered`, { waitFor: '.product' }),
      task('b', `${world.site.url}/rendered`, { waitFor: '.product' }),
    ]);
    t.match(itemsOf(outcomes.get('a')), [{ egress: 'p1', status: 200 }]);
    t.match(itemsOf(outcomes.get('b')), [{ egress: 'p1', status: 200 }]);
    const first = world.site.log.filter(({ egress, path: each }) => egress === 'p0' && each === '/rendered');
    t.equal(first.length, 1, 'not welcome there, and not tried again');
    t.ok(world.site.log.every(({ egress }) => egress === 'p0' || egress === 'p1'));
  });

  t.test('a browser that is killed costs a try, and the worker lives', async (t) => {
    const world = await openFetchWorld(t, { flags: { ...flags, 'fetch.robots': 'false' } });
    const worker = await world.start([visitor({ engine: 'browser' })]);
    const settled = world.settle([task('a', `${world.site.url}/rendered?ms=1500`, { waitFor: '.product' })]);
    await world.site.until(({ path: each }) => each.startsWith('/rendered/data'));
    const [pid] = browsersHere();
    if (pid === undefined) throw new Error('there is no browser');
    process.kill(pid, 'SIGKILL');
    const outcome = (await settled).get('a');
    t.match(itemsOf(outcome), [{ status: 200, text: /data-id="1"/ }]);
    t.match(outcome, { faults: [{ code: 'INTERNAL', message: /browser crashed/ }] });
    t.notOk(browsersHere().includes(pid));
    t.equal(browsersHere().length, 1, 'another one');
    worker.quiet();
    await worker.ended;
    t.same(browsersHere(), []);
  });
}

t.test('without Chromium it says what to do', async (t) => {
  const world = await openFetchWorld(t, {
    flags: { 'browser.path': '/nowhere/chromium', 'fetch.robots': 'false' },
  });
  await world.start([visitor({ engine: 'browser', retries: 0 })]);
  const outcome = (await world.settle([task('a', `${world.site.url}/rendered`)])).get('a');
  t.match(outcome, { state: 'dead', error: { code: 'INTERNAL', message: /no program \/nowhere\/chromium/ } });
  t.same(world.site.log, [], 'nothing was sent for it');
});
