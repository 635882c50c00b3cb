/** The demo site's friendly side: pages, API, login, and the record of what it saw. */
import t from 'tap';
import { connect } from 'node:net';
import { once } from 'node:events';
import { PLACES } from '../../src/demo-site/places.ts';
import type { Product } from '../../src/demo-site/products.ts';
import { API_KEY, signRequest } from '../../src/demo-site/signature.ts';
import { startDemoSite } from '../../src/demo-site/site.ts';
import { openDemoSite, visit } from '../kit/demo-world.ts';

t.test('the shop: index, listing, product, truth, site map', async (t) => {
  const site = await openDemoSite(t, { seed: 3, products: 45 });
  const index = await visit(site.url);
  t.equal(index.status, 200);
  for (const { path } of PLACES) t.match(index.text, path.replace(/&/g, '&amp;'));
  t.match(
    (await visit(`${site.url}/catalogue`)).text,
    /<a rel="next" class="next" href="\/catalogue\?page=2">/,
  );
  t.equal((await visit(`${site.url}/catalogue?page=4`)).status, 404);
  const page = await visit(`${site.url}/product/7`);
  const truth = (await visit(`${site.url}/api/product/7`)).json() as Product;
  t.same(truth, site.products.find(7));
  t.match(page.text, `data-price="${(truth.cents / 100).toFixed(2)}"`);
  t.equal(Number(page.headers['content-length']), page.body.length);
  const again = await visit(`${site.url}/product/7`, {
    headers: { 'if-none-match': String(page.headers.etag) },
  });
  t.match([again.status, again.body.length], [304, 0]);
  for (const id of ['0', '46', 'x', '1e1', ''])
    t.equal((await visit(`${site.url}/product/${id}`)).status, 404, id);
  t.match((await visit(`${site.url}/sitemap.xml`)).text, `<loc>${site.url}/product/45</loc>`);
  t.equal((await visit(`${site.url}/nowhere`)).status, 404);
  t.equal((await visit(`${site.url}/constructor`)).status, 404);
});

t.test('robots.txt can be changed', async (t) => {
  const site = await openDemoSite(t);
  const read = (): ReturnType<typeof visit> => visit(`${site.url}/robots.txt`);
  t.match((await read()).text, /User-agent: \*\nDisallow: \/private\/\n/);
  site.setRobots({ disallow: ['/x'], crawlDelayS: 3 });
  t.match((await read()).text, /Disallow: \/x\nCrawl-delay: 3\n/);
  for (const status of [404, 500]) {
    site.setRobots({ status });
    t.equal((await read()).status, status);
  }
});

t.test('the API: cursors, signatures, offsets', async (t) => {
  const site = await openDemoSite(t);
  interface Items {
    readonly objects: { readonly itemId: string }[];
    readonly cursor: string;
  }
  const first = (await visit(`${site.url}/api/items?game=rust`)).json() as Items;
  const second = (
    await visit(`${site.url}/api/items?game=rust&cursor=${first.cursor}&limit=50`)
  ).json() as Items;
  t.same([first.objects.length, second.objects.length, second.objects[0]?.itemId], [100, 50, 'rust-101']);
  t.equal((await visit(`${site.url}/api/items?game=chess`)).status, 400);
  t.equal((await visit(`${site.url}/api/toString`)).status, 404);

  const path = '/api/signed/items?game=cs';
  const date = String(Math.floor(Date.now() / 1000));
  const headers = { 'x-api-key': API_KEY, 'x-sign-date': date };
  const signature = signRequest({ method: 'GET', path, date });
  t.equal((await visit(site.url + path)).status, 401);
  t.equal((await visit(site.url + path, { headers: { ...headers, 'x-request-sign': 'no' } })).status, 401);
  t.equal(
    (await visit(site.url + path, { headers: { ...headers, 'x-request-sign': signature } })).status,
    200,
  );

  interface Followers {
    readonly total: number;
    readonly followers: unknown[];
    readonly next_offset: number | null;
  }
  let offset: number | null = 0;
  let count = 0;
  let total = -1;
  while (offset !== null) {
    const page: Followers = (await visit(`${site.url}/api/followers/7?offset=${offset}`)).json() as Followers;
    ({ total, next_offset: offset } = page);
    count += page.followers.length;
  }
  t.equal(count, total);
  t.match((await visit(`${site.url}/api/profile/ada`)).json(), { username: 'ada', followers: Number });
  t.equal((await visit(`${site.url}/api/profile/missing-7`)).status, 404);
  t.match((await visit(`${site.url}/api/stories/7`)).json(), { id: '7', has_story: Boolean, stories: Array });
});

t.test('login, session, rotation, logout', async (t) => {
  const site = await openDemoSite(t);
  const login = (form: string): ReturnType<typeof visit> =>
    visit(`${site.url}/login`, {
      method: 'POST',
      body: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const tokenOf = ({ headers }: Awaited<ReturnType<typeof visit>>): string =>
    /sid=\w*/.exec(headers['set-cookie']?.join() ?? '')?.[0] ?? '';
  const account = (path: string, cookie = ''): ReturnType<typeof visit> =>
    visit(`${site.url}${path}`, { headers: { cookie } });

  t.match((await visit(`${site.url}/login`)).text, /name=csrf value="c5rf"/);
  t.equal((await login('csrf=c5rf&user=demo&password=wrong')).status, 403);
  t.equal((await login('user=demo&password=demo')).status, 403, 'without the token of the form');
  t.equal((await account('/account')).status, 401);
  t.match(await visit(`${site.url}/account`, { headers: { accept: 'text/html' } }), {
    status: 302,
    headers: { location: '/login' },
  });
  const entered = await login('csrf=c5rf&user=demo&password=demo&uses=4');
  t.match(entered, { status: 303, headers: { location: '/account' } });
  const first = tokenOf(entered);
  t.match((await account('/account', first)).text, /class="user">demo/);
  const rotated = await account('/account/rotate', first);
  const second = tokenOf(rotated);
  t.not(second, first);
  t.equal((await account('/account', first)).status, 401, 'the old cookie is worth nothing');
  t.equal((await account('/api/session/stories/7', second)).status, 200);
  t.equal((await account('/api/session/stories/7')).status, 401);
  t.equal((await account('/account', second)).status, 200);
  t.equal((await account('/account', second)).status, 401, 'used up');
  const third = tokenOf(await login('csrf=c5rf&user=demo&password=demo'));
  t.equal((await account('/logout', third)).status, 303);
  t.equal((await account('/account', third)).status, 401);
});

t.test('the record: who came, when, how, and what it amounts to', async (t) => {
  const site = await openDemoSite(t);
  site.nameAddress('127.0.0.9', 'nine');
  const slow = visit(`${site.url}/slow?ms=60000`, { headers: { 'user-agent': 'sloth' } });
  slow.catch(() => undefined);
  await site.until(({ userAgent }) => userAgent === 'sloth');
  await visit(`${site.url}/product/1?x=1`, { headers: { cookie: 'a=b', 'X-Odd': 'v' }, from: '127.0.0.9' });
  const last = await site.until(({ path, endMs }) => path === '/product/1?x=1' && endMs !== undefined);
  t.match(last, {
    seq: 2,
    method: 'GET',
    ip: '127.0.0.9',
    egress: 'nine',
    cookie: 'a=b',
    status: 200,
    finished: true,
  });
  t.match(last, { host: `127.0.0.1:${site.port}`, secure: false, port: Number, connection: 2 });
  t.ok(last.rawHeaders.includes('X-Odd'), 'headers as the client wrote them');
  t.ok((last.endMs ?? 0) >= last.startMs);
  t.same([site.open(), site.sockets() >= 1], [1, true]);
  t.equal(site.seen.maxConcurrent(), 2);
  t.equal(site.seen.maxConcurrent({ by: 'ip' }), 1);
  t.equal(site.seen.perWindow(60_000, { path: '/product' }), 1);
  t.equal(site.seen.spacing({ by: 'ip' }), Infinity);
  const log = (await visit(`${site.url}/__log?since=1`)).json();
  t.match(log, { records: [{ path: '/product/1?x=1' }], next: 2, dropped: 0 });
  t.match((await visit(`${site.url}/__stats`)).json(), {
    requests: 2,
    open: 1,
    byEgress: { nine: 1, '127.0.0.1': 1 },
    byStatus: { none: 1, 200: 1 },
    maxConcurrent: 2,
  });
  t.equal(site.log.length, 2, 'looking is not recorded');
  await visit(`${site.url}/__reset`, { method: 'POST' });
  t.equal(site.log.length, 0);
});

t.test('rules laid on a part of the site', async (t) => {
  const site = await openDemoSite(t);
  site.setRules([
    { prefix: '/product', perIp: { max: 2, windowMs: 3_600_000 } },
    { prefix: '/api', status: 503, retryAfterS: 9 },
    { prefix: '/health', delayMs: 30 },
  ]);
  const status = async (from: string): Promise<number> =>
    (await visit(`${site.url}/product/1`, { from })).status;
  t.same([await status('127.0.0.1'), await status('127.0.0.1'), await status('127.0.0.2')], [200, 200, 200]);
  const refused = await visit(`${site.url}/product/1`);
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers['retry-after']) > 3590);
  t.match(await visit(`${site.url}/api/profile/1`), { status: 503, headers: { 'retry-after': '9' } });
  const before = performance.now();
  await visit(`${site.url}/health`);
  t.ok(performance.now() - before >= 29);
  site.setRules([]);
  t.equal(await status('127.0.0.1'), 200);
});

t.test('closing ends every connection and frees the port', async (t) => {
  const site = await startDemoSite({ tls: { fault: 'self-signed' } });
  const idle = connect(site.port, '127.0.0.1');
  await once(idle, 'connect');
  const hanging = visit(`${site.url}/hang`).then(
    () => 'answered',
    () => 'cut',
  );
  await site.until(({ path }) => path === '/hang');
  await site.close();
  t.equal(await hanging, 'cut');
  t.same([site.sockets(), site.open()], [0, 0]);
  await t.rejects(visit(site.url), { code: 'ECONNREFUSED' });
  await t.rejects(visit(site.https?.url ?? ''), { code: 'ECONNREFUSED' });
  await site.close();
  const successor = await openDemoSite(t, { port: site.port });
  t.equal(successor.port, site.port);
  await t.rejects(startDemoSite({ port: site.port }), { code: 'CONFLICT', hint: /port/ });
  await t.rejects(startDemoSite({ tls: { fault: 'expired', port: site.port } }), { code: 'CONFLICT' });
});
