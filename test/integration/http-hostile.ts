/** The engine with sites that stall, break off, lie and overflow: every end is typed, and comes in time. */
import t from 'tap';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTlsServer } from 'node:tls';
import * as zlib from 'node:zlib';
import type { HttpTimeouts } from '../../src/http/engine.ts';
import {
  listen,
  makeCertificate,
  startRaw,
  startRawAnswer,
  startSite,
  startWorld,
  TIMEOUTS,
} from '../kit/http-world.ts';

const within = (own: Partial<HttpTimeouts>): { timeouts: HttpTimeouts } => ({
  timeouts: { ...TIMEOUTS, ...own },
});

async function took<T>(work: Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  return [await work, performance.now() - startedAt];
}

t.test('timeouts, each with a server that stalls there', async (t) => {
  const silent = await startRaw(t, () => undefined);
  const headers = await startRawAnswer(t, (socket) => socket.write('HTTP/1.1 200 OK\r\nx-half: '));
  const body = await startRawAnswer(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
  );
  const { failing } = startWorld(t, [silent, headers, body]);

  const [tls, tlsMs] = await took(failing(`https://127.0.0.1:${silent}/`, within({ connectMs: 200 })));
  t.match(tls, { code: 'TIMEOUT', sent: false }, 'in the handshake');
  t.ok(tlsMs < 2000);
  t.match(await failing(`http://127.0.0.1:${silent}/`, within({ headersMs: 200 })), {
    code: 'TIMEOUT',
    sent: true,
  });
  t.match(await failing(`http://127.0.0.1:${headers}/`, within({ headersMs: 200 })), {
    code: 'TIMEOUT',
    sent: true,
  });
  t.match(await failing(`http://127.0.0.1:${body}/`, within({ bodyMs: 200 })), {
    code: 'TIMEOUT',
    sent: true,
  });
  const [total, totalMs] = await took(failing(`http://127.0.0.1:${silent}/`, within({ totalMs: 200 })));
  t.match(total, { code: 'TIMEOUT', sent: true });
  t.ok(totalMs < 1500);
});

t.test('a drip passes no deadline', async (t) => {
  let timer: NodeJS.Timeout | undefined;
  const port = await startSite(t, (request, response) => {
    if (request.url === '/headers') {
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      timer = setInterval(() => response.socket?.write('x-a: b\r\n'), 20);
    } else {
      response.writeHead(200, request.url === '/gzip' ? { 'content-encoding': 'gzip' } : {});
      timer = setInterval(() => response.write('x'), 20);
    }
    response.on('close', () => clearInterval(timer));
  });
  t.teardown(() => clearInterval(timer));
  const { failing, engine } = startWorld(t, [port]);
  for (const path of ['headers', 'body', 'gzip']) {
    const [failure, ms] = await took(failing(`http://127.0.0.1:${port}/${path}`, within({ totalMs: 400 })));
    t.match(failure, { code: 'TIMEOUT', sent: true }, path);
    t.ok(ms >= 390 && ms < 3000, `${path}: ${ms} ms`);
    clearInterval(timer);
  }
  t.equal(engine.stats().inFlight, 0);
});

t.test('HTTP/2 stalls and resets are typed as well', async (t) => {
  const certificate = makeCertificate();
  const server = createSecureServer(certificate);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const path = headers[':path'];
    if (path === '/body') stream.respond({ ':status': 200 }, { endStream: false });
    if (path === '/reset') stream.close(2);
    if (path === '/cancel') stream.close(8);
    if (path === '/goaway') stream.session?.goaway(0);
    if (path === '/destroy') stream.session?.destroy();
    if (path === '/cut') {
      stream.respond({ ':status': 200, 'content-length': '100' });
      stream.write('half', () => stream.session?.destroy());
    }
    if (path === '/ok') stream.end('fine');
  });
  const port = await listen(t, server);
  const { failing, get } = startWorld(t, [port], { ca: certificate.cert });
  const at = (path: string): string => `https://127.0.0.1:${port}/${path}`;
  const h2 = { http2: true };
  t.match(await failing(at('headers'), { ...h2, ...within({ headersMs: 200 }) }), { code: 'TIMEOUT' });
  t.match(await failing(at('body'), { ...h2, ...within({ bodyMs: 200 }) }), { code: 'TIMEOUT' });
  t.match(await failing(at('body'), { ...h2, ...within({ totalMs: 200 }) }), { code: 'TIMEOUT' });
  for (const path of ['reset', 'cancel', 'goaway', 'destroy', 'cut']) {
    t.match(
      await failing(at(path), { ...h2, ...within({ totalMs: 3000 }) }),
      { code: 'NETWORK', sent: true },
      path,
    );
    t.equal((await get(at('ok'), h2)).body.toString(), 'fine', `after ${path}`);
  }
});

t.test('answers that break off or make no sense', async (t) => {
  const gzip = zlib.gzipSync('x'.repeat(10_000));
  const head = (length: number, coding = ''): string =>
    `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${length}\r\n${coding}\r\n`;
  const coding = 'content-encoding: gzip\r\n';
  const table: Record<string, readonly [string | Buffer, string]> = {
    'cut within a body of known length': [`${head(100)}half`, 'NETWORK'],
    'cut within a chunk': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\nhalf', 'NETWORK'],
    'cut between chunks': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n', 'NETWORK'],
    'cut within the headers': ['HTTP/1.1 200 OK\r\nx-a: ', 'NETWORK'],
    'nothing at all': ['', 'NETWORK'],
    'not HTTP': ['SSH-2.0-OpenSSH_9.6\r\n', 'INVALID'],
    'a chunk of no size': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'INVALID'],
    'two lengths': ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx', 'NETWORK'],
    'a bad header': ['HTTP/1.1 200 OK\r\nbad header\r\n\r\n', 'INVALID'],
    'headers without end': [
      `HTTP/1.1 200 OK\r\n${'x-a: bbbbbbbbbbbbbbbbbbbbbbbb\r\n'.repeat(5000)}`,
      'INVALID',
    ],
    'a header without end': [`HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(100_000)}`, 'INVALID'],
    'gzip cut': [Buffer.concat([Buffer.from(head(30, coding)), gzip.subarray(0, 30)]), 'NETWORK'],
    'gzip that is none': [`${head(4, coding)}text`, 'INVALID'],
    'gzip with wrong bytes': [
      Buffer.concat([Buffer.from(head(gzip.length, coding)), Buffer.from(gzip).fill(7, 12, 20)]),
      'INVALID',
    ],
    'br that is none': [`${head(40, 'content-encoding: br\r\n')}${'~'.repeat(40)}`, 'INVALID'],
    'an upgrade nobody asked for': [
      'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'NETWORK',
    ],
  };
  for (const [name, [bytes, code]] of Object.entries(table)) {
    const port = await startRawAnswer(t, (socket) => socket.end(bytes));
    const failure = await startWorld(t, [port]).failing(`http://127.0.0.1:${port}/`);
    t.match(failure, { code, sent: true, name: 'Failure' }, name);
  }
});

t.test('resets, at every point', async (t) => {
  const accepted = await startRaw(t, (socket) => socket.resetAndDestroy());
  const asked = await startRawAnswer(t, (socket) => socket.resetAndDestroy());
  const inBody = await startRawAnswer(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 100\r\n\r\nhalf', () =>
      setImmediate(() => socket.resetAndDestroy()),
    ),
  );
  const { failing } = startWorld(t, [accepted, asked, inBody, 1]);
  for (const port of [accepted, asked, inBody, 1]) {
    t.match(await failing(`http://127.0.0.1:${port}/`), { code: 'NETWORK' }, `port ${port}`);
    t.match(
      await failing(`https://127.0.0.1:${port}/`),
      { code: 'NETWORK', sent: false },
      `TLS with port ${port}`,
    );
  }
});

t.test('a coded body that is reset under load does not end the process', async (t) => {
  const bomb = zlib.gzipSync(Buffer.alloc(5_000_000));
  const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\n\r\n';
  const port = await startRawAnswer(t, (socket) => {
    socket.write(head);
    socket.write(bomb.subarray(0, bomb.length - 20), () => socket.resetAndDestroy());
  });
  const { failing } = startWorld(t, [port]);
  const ends = await Promise.all(
    Array.from({ length: 20 }, () => failing(`http://127.0.0.1:${port}/`, { maxBytes: 50_000_000 })),
  );
  for (const end of ends) t.equal(end.code, 'NETWORK');
});

t.test('bodies above the cap', async (t) => {
  const port = await startSite(t, (request, response) => {
    const endless = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    if (request.url === '/endless') {
      response.on('drain', endless);
      endless();
    } else if (request.url === '/pieces') {
      // Pieces of one byte: 6 bytes on the wire, and a hundred in memory if each were kept.
      response.socket?.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      response.socket?.write('1\r\nx\r\n'.repeat(1_000_001));
    } else response.end(Buffer.alloc(Number(request.url?.slice(1))));
  });
  const { failing, get } = startWorld(t, [port]);
  const tooLarge = { code: 'REJECTED', sent: true, hint: /limit/ };
  t.equal((await get(`http://127.0.0.1:${port}/1000000`)).body.length, 1_000_000, 'up to the cap');
  t.match(await failing(`http://127.0.0.1:${port}/1000001`), tooLarge);
  t.match(await failing(`http://127.0.0.1:${port}/endless`), tooLarge);
  t.match(await failing(`http://127.0.0.1:${port}/pieces`), tooLarge);
});

t.test('bad TLS', async (t) => {
  const certificate = makeCertificate();
  const other = makeCertificate(['other.example']);
  const noAddress = makeCertificate(['localhost'], []);
  const unknown = await listen(
    t,
    createHttpsServer(certificate, (_, response) => response.end()),
  );
  const plain = await startSite(t, (_, response) => response.end());
  const old = await listen(
    t,
    createTlsServer({ ...other, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_CCM_SHA256' }),
  );
  const nameless = await listen(
    t,
    createHttpsServer(noAddress, (_, response) => response.end()),
  );
  const misnamed = await listen(
    t,
    createHttpsServer(other, (_, response) => response.end()),
  );
  const resolve = {
    resolve: (_: string, __: object, done: Done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  };
  const { failing } = startWorld(t, [unknown, plain, old, misnamed, nameless], {
    ca: `${other.cert}${noAddress.cert}`,
    ...resolve,
  });
  const failure = await failing(`https://127.0.0.1:${unknown}/`);
  t.match(failure, { code: 'NETWORK', sent: false, hint: /certificate/ }, 'signed by nobody we know');
  t.match(await failing(`https://shop.example:${misnamed}/`), {
    code: 'NETWORK',
    sent: false,
    hint: /certificate/,
  });
  t.match(await failing(`https://127.0.0.1:${plain}/`), { code: 'NETWORK', sent: false }, 'no TLS');
  t.match(
    await failing(`https://127.0.0.1:${old}/`),
    { code: 'NETWORK', sent: false },
    'no cipher in common',
  );
  t.match(await failing(`http://127.0.0.1:${unknown}/`), { sent: true }, 'http to an https port');
});

type Done = (error: null, addresses: { address: string; family: number }[]) => void;
