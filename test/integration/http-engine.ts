/** The engine with sites that behave: answers, headers, codings, HTTP/2, bodies, cancellation. */
import t, { type Test } from 'tap';
import { randomBytes } from 'node:crypto';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import * as zlib from 'node:zlib';
import {
  listen,
  makeCertificate,
  startRawAnswer,
  startSite,
  startWorld,
  TIMEOUTS,
} from '../kit/http-world.ts';

const certificate = makeCertificate();

t.test('an answer comes back as it was sent', async (t) => {
  const port = await startSite(t, (request, response) => {
    response.writeHead(
      404,
      [
        ['Content-Type', 'text/html'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2; Path=/'],
        ['X-Twice', 'one'],
        ['X-Twice', 'two'],
        ['__proto__', 'odd'],
      ].flat(),
    );
    response.end(`${request.method} ${request.url}`);
  });
  const { get, engine } = startWorld(t, [port]);
  const answer = await get(`http://127.0.0.1:${port}/a/b?c=d#e`);
  t.match(answer, { status: 404, httpVersion: '1.1', setCookie: ['a=1', 'b=2; Path=/'] });
  t.equal(answer.headers['content-type'], 'text/html');
  t.equal(answer.headers['x-twice'], 'one, two');
  t.notOk('set-cookie' in answer.headers);
  t.equal(Object.getPrototypeOf(answer.headers), null);
  t.equal(answer.body.toString(), 'GET /a/b?c=d');
  t.equal(answer.bytesReceived, answer.body.length);
  t.ok((answer.timing.connectMs ?? -1) >= 0 && answer.timing.totalMs >= answer.timing.firstByteMs);
  const again = await get(`http://127.0.0.1:${port}/`);
  t.equal(again.timing.connectMs, undefined, 'the connection was kept');
  t.same(engine.stats(), { pools: 1, sockets: 1, inFlight: 0 });
});

t.test('headers keep their order and spelling', async (t) => {
  let seen: string[] = [];
  const port = await startSite(t, (request, response) => {
    seen = request.rawHeaders;
    response.end();
  });
  const headers = [
    ['sec-ch-ua', 'x'],
    ['User-Agent', 'y'],
    ['Accept', 'z'],
    ['aCCept-Language', 'en'],
  ] as const;
  await startWorld(t, [port]).get(`http://127.0.0.1:${port}/`, { headers });
  t.same(seen.slice(4), headers.flat(), 'after host and connection');
});

t.test('a body is sent along', async (t) => {
  const port = await startSite(t, (request, response) => {
    request.pipe(response.writeHead(200, { 'x-method': request.method ?? '' }));
  });
  const { get } = startWorld(t, [port]);
  for (const body of ['text with ü', Buffer.from([0, 1, 255]), new Uint8Array([5, 6]).subarray(1)]) {
    const answer = await get(`http://127.0.0.1:${port}/`, { method: 'POST', body });
    t.same(answer.body, Buffer.from(body));
    t.equal(answer.headers['x-method'], 'POST');
  }
});

t.test('content codings are undone', async (t) => {
  // Small, small before it is decoded, and large.
  for (const times of [50, 50_000]) await checkCodings(t, Buffer.from('<p>grün</p>'.repeat(times)));
  await checkCodings(t, randomBytes(100_000));
});

async function checkCodings(t: Test, page: Buffer): Promise<void> {
  const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: Buffer) => Buffer };
  const coded: Record<string, Buffer> = {
    gzip: zlib.gzipSync(page),
    'x-gzip': zlib.gzipSync(page),
    deflate: zlib.deflateSync(page),
    br: zlib.brotliCompressSync(page),
    'gzip, br': zlib.brotliCompressSync(zlib.gzipSync(page)),
    identity: page,
    'UTF-8': page,
    ...(zstdCompressSync && { zstd: zstdCompressSync(page) }),
  };
  const port = await startSite(t, (request, response) => {
    const coding = decodeURIComponent(request.url?.slice(1) ?? '');
    if (coding === 'raw-deflate')
      response.setHeader('content-encoding', 'deflate').end(zlib.deflateRawSync(page));
    else response.setHeader('content-encoding', coding).end(coded[coding]);
  });
  const { get, failing } = startWorld(t, [port]);
  for (const coding of [...Object.keys(coded), 'raw-deflate']) {
    const answer = await get(`http://127.0.0.1:${port}/${encodeURIComponent(coding)}`);
    t.ok(answer.body.equals(page), coding);
    t.equal(answer.headers['content-encoding'], coding === 'raw-deflate' ? 'deflate' : coding);
    const head = await get(`http://127.0.0.1:${port}/${encodeURIComponent(coding)}`, { method: 'HEAD' });
    t.equal(head.body.length, 0, `${coding} of nothing`);
  }
  if (!zstdCompressSync)
    t.match(await failing(`http://127.0.0.1:${port}/zstd`), { code: 'INVALID', sent: true });
  t.match(await failing(`http://127.0.0.1:${port}/compress`), { code: 'INVALID' });
  t.match(await failing(`http://127.0.0.1:${port}/${encodeURIComponent('gzip,gzip,gzip,gzip')}`), {
    code: 'INVALID',
  });
}

t.test('early hints are not the answer', async (t) => {
  const port = await startRawAnswer(t, (socket) => {
    socket.end('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi');
  });
  t.match(await startWorld(t, [port]).get(`http://127.0.0.1:${port}/`), {
    status: 200,
    body: Buffer.from('hi'),
  });
});

t.test('https, over HTTP/1.1 and HTTP/2', async (t) => {
  const h2 = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.setHeader('content-encoding', 'gzip');
    response.end(zlib.gzipSync(`over ${request.httpVersion}`));
  });
  const h1 = createHttpsServer(certificate, (_, response) => response.end('old'));
  const [port, oldPort] = [await listen(t, h2), await listen(t, h1)];
  const { get, engine } = startWorld(t, [port, oldPort], { ca: certificate.cert });
  const url = `https://127.0.0.1:${port}/`;
  t.match(await get(url), { httpVersion: '1.1', body: Buffer.from('over 1.1') });
  for (let i = 0; i < 3; i += 1) {
    t.match(await get(url, { http2: true }), {
      httpVersion: '2',
      body: Buffer.from('over 2.0'),
      setCookie: ['a=1', 'b=2'],
    });
  }
  const posted = await get(url, { http2: true, method: 'POST', body: 'x' });
  t.equal(posted.status, 200);
  t.match(await get(`https://127.0.0.1:${oldPort}/`, { http2: true }), {
    httpVersion: '1.1',
    body: Buffer.from('old'),
  });
  const many = await Promise.all(Array.from({ length: 20 }, () => get(url, { http2: true })));
  t.ok(many.every(({ httpVersion }) => httpVersion === '2'));
  t.equal(engine.stats().pools, 3, 'protocols do not share a pool');
});

t.test('a request that cannot be sent', async (t) => {
  const { failing } = startWorld(t, []);
  for (const options of [
    { method: 'CONNECT' },
    { method: 'BAD METHOD' },
    { headers: [['bad name', 'x']] as const },
    { headers: [['x', 'a\r\nb: c']] as const },
    { headers: [['Proxy-Authorization', 'Basic x']] as const },
    { headers: [['TE', 'gzip']] as const, http2: true },
  ]) {
    t.match(
      await failing('http://8.8.8.8/', options),
      { code: 'INVALID', sent: false },
      JSON.stringify(options),
    );
  }
  t.match(await failing('ftp://8.8.8.8/'), { code: 'INVALID', sent: false });
  const withLogin = await failing('http://user:canary@8.8.8.8/');
  t.match(withLogin, { code: 'INVALID', sent: false });
  t.notMatch(withLogin.message, /canary/);
});

t.test('cancellation', async (t) => {
  let arrived = (): void => undefined;
  const seen = new Promise<void>((resolve) => (arrived = resolve));
  const port = await startSite(t, () => arrived());
  const { engine } = startWorld(t, [port]);
  const request = {
    url: new URL(`http://127.0.0.1:${port}/`),
    method: 'GET',
    headers: [],
    egress: { id: 'direct' },
    timeouts: TIMEOUTS,
    maxBytes: 1000,
    http2: false,
  };
  const before = AbortSignal.abort();
  await t.rejects(engine.send(request, before), { code: 'CANCELLED', sent: false });
  const controller = new AbortController();
  const sending = engine.send(request, controller.signal);
  await seen;
  controller.abort();
  await t.rejects(sending, { code: 'CANCELLED', sent: true });
  t.equal(engine.stats().inFlight, 0);
});

t.test('closing ends what is under way, and leaves no socket', async (t) => {
  let count = 0;
  let allIn = (): void => undefined;
  const seen = new Promise<void>((resolve) => (allIn = resolve));
  const port = await startSite(t, (request, response) => {
    if (request.url === '/now') response.end();
    else if (++count === 5) allIn();
  });
  const { engine, get } = startWorld(t, [port]);
  await get(`http://127.0.0.1:${port}/now`);
  const hanging = Array.from({ length: 5 }, () => get(`http://127.0.0.1:${port}/`));
  const ends = Promise.allSettled(hanging);
  await seen;
  t.equal(engine.stats().inFlight, 5);
  await engine.close();
  for (const end of await ends) t.match(end, { status: 'rejected', reason: { code: 'CANCELLED' } });
  t.same(engine.stats(), { pools: 0, sockets: 0, inFlight: 0 });
  await t.rejects(get(`http://127.0.0.1:${port}/now`), { code: 'CANCELLED', sent: false });
  await engine.close();
});

t.test('closing does not wait for a connection that never stands', async (t) => {
  // A server that accepts and says nothing: TLS never gets anywhere.
  const silent = await startRawAnswer(t, () => undefined);
  const { engine, failing } = startWorld(t, [silent]);
  const hanging = failing(`https://127.0.0.1:${silent}/`);
  t.equal(engine.stats().sockets, 1);
  await engine.close();
  t.match(await hanging, { code: 'CANCELLED' });
  t.equal(engine.stats().sockets, 0);
});
