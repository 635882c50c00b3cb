/** The demo site's other side: throttles, bans, broken bodies, broken connections, bad certificates. */
import t from 'tap';
import { createGunzip, gunzipSync } from 'node:zlib';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { CERTIFICATE_FAULTS } from '../../src/demo-site/certificate.ts';
import { CHARSET_SAMPLES } from '../../src/demo-site/encode-text.ts';
import { openDemoSite, visit } from '../kit/demo-world.ts';

async function open(url: string): Promise<IncomingMessage> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
  return answer;
}

t.test('throttles, bans and captchas', async (t) => {
  const site = await openDemoSite(t);
  const statuses = async (
    path: string,
    times: number,
    headers: Record<string, string> = {},
  ): Promise<number[]> => {
    const found = [];
    for (let index = 0; index < times; index += 1)
      found.push((await visit(site.url + path, { headers })).status);
    return found;
  };
  t.same(await statuses('/throttle?after=2&retry=100', 4), [200, 200, 429, 429]);
  t.equal((await visit(`${site.url}/throttle?after=2&retry=100`)).headers['retry-after'], '100');
  t.equal(
    (await visit(`${site.url}/throttle?after=2`, { from: '127.0.0.2' })).status,
    200,
    'another address',
  );
  t.same(await statuses('/throttle?after=0&retry=0&key=b', 2), [200, 200], 'closed for no time');
  const dated = await visit(`${site.url}/throttle?after=0&retry=60&key=c&as=date`);
  const waitMs = Date.parse(String(dated.headers['retry-after'])) - Date.now();
  t.ok(waitMs > 55_000 && waitMs <= 60_000);
  t.same(await statuses('/busy?times=2', 3), [503, 503, 200]);
  t.match(await visit(`${site.url}/busy?retry=5&key=x`), { status: 503, headers: { 'retry-after': '5' } });
  t.same(await statuses('/ban?after=1', 3), [200, 403, 403]);
  t.same(await statuses('/ban?after=1&by=session', 2, { cookie: 'sid=a' }), [200, 403]);
  t.same(await statuses('/ban?after=1&by=session', 1, { cookie: 'sid=b' }), [200]);
  t.same(await statuses('/ban?after=1&by=agent', 2, { 'user-agent': 'x' }), [200, 403]);
  t.match(await visit(`${site.url}/captcha`), { status: 200, text: /id="captcha"/ });
  t.match(await visit(`${site.url}/captcha?status=403`), { status: 403 });
  site.reset();
  t.same(await statuses('/ban?after=1', 1), [200]);
});

t.test('bodies: slow, long, swollen, cut', async (t) => {
  const site = await openDemoSite(t);
  t.match(await visit(`${site.url}/slow?ms=20`), { status: 200, text: 'after 20 ms' });
  t.equal((await visit(`${site.url}/drip?bytes=5&ms=1`)).text, '.....');
  t.equal((await visit(`${site.url}/big?bytes=300001`)).body.length, 300_001);
  t.equal((await visit(`${site.url}/big?bytes=300001&chunked`)).headers['content-length'], undefined);
  for (const path of ['/truncated', '/truncated?chunked', '/reset?late'])
    await t.rejects(visit(site.url + path), path);
  await t.rejects(visit(`${site.url}/reset`), { code: 'ECONNRESET' });
  await t.rejects(visit(`${site.url}/bad-http`), { code: /^HPE_/ });
  await t.rejects(visit(`${site.url}/many-headers?n=500`), { code: 'HPE_HEADER_OVERFLOW' });
  await t.rejects(visit(`${site.url}/endless-headers`), { code: 'HPE_HEADER_OVERFLOW' });
  t.equal((await visit(`${site.url}/many-headers?n=3`)).headers['x-header-2'], 'v'.repeat(64));
  const bad = async (kind: string): Promise<Buffer> =>
    (await visit(`${site.url}/bad-gzip?kind=${kind}`)).body;
  for (const kind of ['plain', 'cut']) {
    const body = await bad(kind);
    t.throws(() => gunzipSync(body), kind);
  }
  t.equal((await visit(`${site.url}/bad-gzip?kind=unknown`)).headers['content-encoding'], 'x-unknown');
  t.equal((await visit(`${site.url}/endless`, { method: 'HEAD' })).status, 200);
});

t.test('a bomb is small on the wire and large in memory', async (t) => {
  const site = await openDemoSite(t);
  const { body } = await visit(`${site.url}/bomb?mb=64`);
  t.ok(body.length < 200_000, `${body.length} bytes`);
  let bytes = 0;
  const gunzip = createGunzip();
  gunzip.on('data', (part: Buffer) => (bytes += part.length));
  gunzip.end(body);
  await once(gunzip, 'end');
  t.equal(bytes, 64 * 1024 * 1024);
});

t.test('endless answers end when the client leaves', async (t) => {
  const site = await openDemoSite(t);
  for (const path of ['/endless', '/drip?ms=10000']) {
    const answer = await open(site.url + path);
    await once(answer, 'data');
    answer.on('error', () => undefined);
    answer.destroy();
    t.match(await site.until((record) => record.path === path && record.endMs !== undefined), {
      finished: false,
    });
  }
  const raw = connect(site.port, '127.0.0.1');
  raw.write('GET /endless-headers HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(raw, 'data');
  raw.destroy();
  await site.until(({ path, endMs }) => path === '/endless-headers' && endMs !== undefined);
  t.equal(site.open(), 0);
});

t.test('redirects, statuses, validators, echoes', async (t) => {
  const site = await openDemoSite(t);
  t.match(await visit(`${site.url}/redirect/2`), { status: 302, headers: { location: '/redirect/1' } });
  t.equal((await visit(`${site.url}/redirect/0`)).text, 'arrived');
  t.match(await visit(`${site.url}/redirect-loop`), { headers: { location: '/redirect-loop/b' } });
  t.match(await visit(`${site.url}/redirect-loop/b`), { headers: { location: '/redirect-loop/a' } });
  const target = encodeURIComponent('http://169.254.169.254/é\r\nx: y');
  t.match(await visit(`${site.url}/redirect-to?url=${target}&status=307`), {
    status: 307,
    headers: { location: 'http://169.254.169.254/%C3%A9%0D%0Ax:%20y' },
  });
  for (const status of [200, 204, 304, 404, 418, 500, 599]) {
    t.equal((await visit(`${site.url}/status/${status}`)).status, status);
  }
  t.match(await visit(`${site.url}/etag`, { headers: { 'if-none-match': '"v1"' } }), { status: 304 });
  t.match(await visit(`${site.url}/etag?version=2`, { headers: { 'if-none-match': '"v1"' } }), {
    status: 200,
  });
  const { headers } = await visit(`${site.url}/last-modified`);
  const since = { 'if-modified-since': String(headers['last-modified']) };
  t.equal((await visit(`${site.url}/last-modified`, { headers: since })).status, 304);
  t.match((await visit(`${site.url}/headers`, { headers: { 'X-Mixed': '1' } })).json(), {
    headers: { 'x-mixed': '1' },
    rawHeaders: ['X-Mixed', '1'],
  });
  t.match((await visit(`${site.url}/echo`, { method: 'POST', body: 'hi' })).json(), {
    method: 'POST',
    body: 'hi',
  });
  t.match((await visit(`${site.url}/ip`, { from: '127.0.0.5' })).json(), { ip: '127.0.0.5' });
  t.equal((await visit(`${site.url}/health`)).text, 'ok');
});

t.test('charsets, declared rightly, wrongly, or not at all', async (t) => {
  const site = await openDemoSite(t);
  const page = await visit(`${site.url}/charset/windows-1251`);
  t.equal(page.headers['content-type'], 'text/html; charset=windows-1251');
  t.match(new TextDecoder('windows-1251').decode(page.body), CHARSET_SAMPLES['windows-1251']);
  const meta = await visit(`${site.url}/charset/euc-jp?declare=meta`);
  t.equal(meta.headers['content-type'], 'text/html');
  t.match(meta.text, '<meta charset="euc-jp">');
  const marked = await visit(`${site.url}/charset/utf-16le?declare=bom`);
  t.equal(marked.body.subarray(0, 2).toString('hex'), 'fffe');
  const lie = await visit(`${site.url}/charset/shift_jis?declare=lie`);
  t.equal(lie.headers['content-type'], 'text/html; charset=utf-8');
  t.match(new TextDecoder('shift_jis').decode(lie.body), CHARSET_SAMPLES.shift_jis);
  t.equal((await visit(`${site.url}/charset/klingon`)).status, 404);
});

t.test('certificates that no client should take', async (t) => {
  const codes = { expired: 'CERT_HAS_EXPIRED', 'wrong-host': 'ERR_TLS_CERT_ALTNAME_INVALID' };
  for (const fault of CERTIFICATE_FAULTS) {
    const site = await openDemoSite(t, { tls: { fault } });
    const { url = '', certificate = '' } = site.https ?? {};
    await t.rejects(visit(`${url}/ip`), { code: /SELF_SIGNED|EXPIRED/ });
    const trusting = visit(`${url}/ip`, { ca: certificate });
    if (fault === 'self-signed') t.equal((await trusting).status, 200);
    else await t.rejects(trusting, { code: codes[fault] }, fault);
    if (fault === 'self-signed')
      await t.rejects(visit(`${url}/reset`, { ca: certificate }), { code: 'ECONNRESET' });
  }
});
