/** Pages by a real Chromium, as the demo site saw them. */
import t from 'tap';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { browsersHere, needChromium, startBrowser } from '../kit/chromium.ts';
import { startSite } from '../kit/http-world.ts';
import { parseProxyAddress } from '../../src/domain/proxy-address.ts';

const path = needChromium(t);
if (path !== undefined) {
  t.test('a page is what its scripts have made of it', async (t) => {
    const site = await openDemoSite(t);
    const { open, engine } = startBrowser(t, path, { allowLoopback: [`127.0.0.1:${site.port}`] });
    const headers = [['X-Own', 'yes']] as const;
    const answer = await open(`${site.url}/rendered?ms=200`, { waitFor: '.product', headers });
    t.equal(answer.status, 200);
    const text = answer.body.toString();
    t.match(text, /<li class="product" data-id="1">/);
    t.match(text, /<b id="visits">1<\/b>/);
    t.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
    t.match(answer.cookies, [{ name: 'visits', value: '1', domain: '127.0.0.1' }]);
    t.ok(answer.bytesReceived > 500 && answer.timing.firstByteMs > 0);

    const paths = site.log.map((record) => record.path);
    t.same(
      paths.filter((each) => each.startsWith('/assets/p')),
      [],
      'images are not loaded',
    );
    t.same([...new Set(site.log.map(({ userAgent }) => userAgent))], ['test browser']);
    const withOwn = site.log.filter(({ rawHeaders }) => rawHeaders.some((name) => /^x-own$/i.test(name)));
    t.same(
      withOwn.map((record) => record.path),
      ['/rendered?ms=200'],
      'only the page itself gets them',
    );

    const idle = await open(`${site.url}/rendered?ms=100`, { waitFor: 'networkidle' });
    t.match(idle.body.toString(), /data-id="10"/);
    const json = await open(`${site.url}/rendered/data`);
    t.match(JSON.parse(json.body.toString()), { products: [{ id: 1 }] }, 'what is no page comes as it is');
    t.match(engine.stats(), { pages: 0, identities: 1, isRunning: true });
  });

  t.test('redirects and files are answers', async (t) => {
    const site = await openDemoSite(t);
    const port = await startSite(t, (request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.url === '/file') response.setHeader('content-disposition', 'attachment');
      if (request.url === '/none') response.statusCode = 204;
      response.end(request.url === '/none' ? undefined : 'x');
    });
    const allowLoopback = [site.port, port].map((each) => `127.0.0.1:${each}`);
    const { open, failing } = startBrowser(t, path, { allowLoopback });
    const moved = await open(`${site.url}/redirect/2`);
    t.match(moved, { status: 302, headers: { location: '/redirect/1' }, body: Buffer.alloc(0) });
    t.same(
      site.log.map((record) => record.path),
      ['/redirect/2'],
      'it is not followed',
    );
    t.match(await open(`http://127.0.0.1:${port}/none`), { status: 204 });
    t.match(await failing(`http://127.0.0.1:${port}/file`), { code: 'REJECTED', sent: true, hint: /engine/ });
    t.match(await open(`${site.url}/status/404`), { status: 404 });
    t.match(await open(`${site.url}/status/503`, { waitFor: '.never' }), { status: 503 });
  });

  t.test('identities see nothing of each other', async (t) => {
    const site = await openDemoSite(t);
    const { open, engine } = startBrowser(t, path, { allowLoopback: [`127.0.0.1:${site.port}`], pages: 1 });
    const url = `${site.url}/rendered`;
    const visits = async (identity: string, cookies: Parameters<typeof open>[1] = {}): Promise<unknown> => {
      const { body } = await open(url, { identity, waitFor: '.product', ...cookies });
      return /id="visits">(\d+)</.exec(body.toString())?.[1];
    };
    const { cookies } = await open(url, { identity: 'a', waitFor: '.product' });
    t.equal(await visits('a', { cookies }), '2');
    t.equal(await visits('b'), '1');
    t.equal(await visits('a', { cookies: [] }), '1', 'the cookies are those that were given');
    t.equal(await visits('c'), '1');
    t.equal(engine.stats().identities, 2, 'the ones used last are kept');
  });

  t.test('through proxies, with and without a password', async (t) => {
    const site = await openDemoSite(t);
    const { open, failing } = startBrowser(t, path);
    const credentials = { username: 'user', password: 'p@ss:word' };
    for (const [n, kind] of (['http', 'socks5'] as const).entries()) {
      const outAddress = `127.0.0.${n + 2}`;
      // A name that exists nowhere but at the proxy: nothing goes past it.
      const elsewhere = { host: '127.0.0.1', port: site.port };
      const proxy = await openFakeProxy(t, { kind, outAddress, credentials, elsewhere });
      const egress = { id: `p-${kind}`, address: parseProxyAddress(proxy.url) };
      const answer = await open('http://shop.example/rendered', { egress, waitFor: '.product' });
      t.match(answer.body.toString(), /data-id="1"/);
      const wrong = { id: 'wrong', address: parseProxyAddress(`${kind}://user:no@127.0.0.1:${proxy.port}`) };
      t.match(await failing('http://shop.example/', { egress: wrong }), {
        code: 'PROXY',
        message: /^proxy wrong: /,
        sent: false,
      });
    }
    t.same([...new Set(site.log.map(({ ip }) => ip))].sort(), ['127.0.0.2', '127.0.0.3']);
    const dead = { id: 'dead', address: parseProxyAddress('http://127.0.0.1:1') };
    t.match(await failing('http://shop.example/', { egress: dead }), { code: 'PROXY', sent: false });
  });

  t.test('trouble has the same names as without a browser', async (t) => {
    const site = await openDemoSite(t, { tls: { fault: 'expired' } });
    const loop = await startSite(t, (_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<script>for (;;);</script>');
    });
    const ports = [site.port, site.https?.port ?? 0, loop, 9];
    const allowLoopback = ports.map((port) => `127.0.0.1:${port}`);
    const { open, failing, engine } = startBrowser(t, path, { allowLoopback });
    const timeouts = { connectMs: 500, headersMs: 500, bodyMs: 5_000, totalMs: 1_500 };
    t.match(await failing(`${site.https?.url}/health`), { code: 'NETWORK', hint: /certificate/ });
    t.match(await failing(`${site.url}/slow?ms=20000`, { timeouts }), { code: 'TIMEOUT', sent: true });
    t.match(await failing(`${site.url}/rendered`, { timeouts, waitFor: '.never' }), { code: 'TIMEOUT' });
    t.match(await failing(`http://127.0.0.1:${loop}/`, { timeouts }), { code: 'TIMEOUT', sent: true });
    t.match(await failing(`${site.url}/reset`), { code: 'NETWORK', sent: true });
    t.match(await failing(`${site.url}/big?bytes=3000000`, { maxBytes: 1_000_000 }), { code: 'REJECTED' });
    t.match(await failing(`${site.url}/endless`, { maxBytes: 1_000_000 }), { code: 'REJECTED' });
    const headers = [['connection', 'close']] as const;
    t.match(await failing(`${site.url}/health`, { headers }), { code: 'INVALID', sent: false });
    t.match(await open(`${site.url}/health`), { status: 200 }, 'and it goes on');
    t.equal(engine.stats().pages, 0);

    const stop = new AbortController();
    const slot = await engine.reserve(stop.signal);
    t.teardown(() => slot.release());
    const request = { ...BLANK, url: new URL(`${site.url}/slow?ms=20000&cancel`) };
    const cancelled = t.rejects(slot.send(request, stop.signal), { code: 'CANCELLED' });
    await site.until(({ path: at }) => at.includes('cancel'));
    stop.abort();
    await cancelled;
  });

  t.test('one browser, started for the first page, gone after the last', async (t) => {
    const site = await openDemoSite(t);
    const { open, engine } = startBrowser(t, path, {
      allowLoopback: [`127.0.0.1:${site.port}`],
      idleMs: 300,
      pages: 2,
    });
    t.equal(engine.stats().isRunning, false);
    t.same(browsersHere(), []);
    await Promise.all(Array.from({ length: 3 }, (_, n) => open(`${site.url}/slow?ms=2000&n=${n}`)));
    t.equal(site.seen.maxConcurrent(), 2, 'so many pages at once');
    t.equal(browsersHere().length, 1);
    while (browsersHere().length > 0 || engine.stats().sockets > 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    t.match(engine.stats(), { isRunning: false, sockets: 0, identities: 0 }, 'closed when it is idle');
    await open(`${site.url}/health`);
    t.equal(browsersHere().length, 1, 'and there again');
    await engine.close();
    t.same(browsersHere(), []);
    t.equal(site.open(), 0);
    t.match(engine.stats(), { sockets: 0, isRunning: false });
  });
}

const BLANK = {
  headers: [],
  egress: { id: 'direct' },
  timeouts: { connectMs: 5_000, headersMs: 30_000, bodyMs: 30_000, totalMs: 30_000 },
  maxBytes: 1_000_000,
  userAgent: 'x',
  identity: 'x',
  cookies: [],
  waitFor: 'load',
};
