/** Requests through proxies: whose fault it was, who resolves names, and that no password is ever told. */
import t from 'tap';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTlsServer } from 'node:tls';
import { inspect } from 'node:util';
import { Secret } from '../../src/domain/secret.ts';
import type { ProxyAddress } from '../../src/domain/egress.ts';
import type { HttpRequest } from '../../src/http/engine.ts';
import { CANARY, serveConnect, startTestProxy } from '../kit/http-proxies.ts';
import {
  listen,
  makeCertificate,
  startRaw,
  startRawAnswer,
  startSite,
  startWorld,
  TIMEOUTS,
} from '../kit/http-world.ts';

const certificate = makeCertificate(['shop.example']);

function through(address: ProxyAddress, totalMs = TIMEOUTS.totalMs): Partial<HttpRequest> {
  return { egress: { id: 'p1', address }, timeouts: { ...TIMEOUTS, connectMs: 1000, totalMs } };
}

for (const kind of ['http', 'socks5'] as const) {
  t.test(`${kind}: the proxy resolves, and the site sees a plain request`, async (t) => {
    let seen: string[] = [];
    const site = await startSite(t, (request, response) => {
      seen = request.rawHeaders;
      response.end(request.url);
    });
    const secure = await listen(
      t,
      createHttpsServer(certificate, (_, response) => response.end('safe')),
    );
    for (const needsLogin of [false, true]) {
      const proxy = await startTestProxy(t, kind, { targetPort: site, needsLogin });
      const { get } = startWorld(t, []);
      const answer = await get('http://shop.example/page', through(proxy.address));
      t.equal(answer.body.toString(), '/page');
      t.same(proxy.asked, ['shop.example:80']);
      t.same(proxy.logins, needsLogin ? [`user:${CANARY}`] : []);
      t.notMatch(seen.join(' '), /proxy|canary/i, 'nothing of the proxy reaches the site');
      await get('http://8.8.8.8:81/', through(proxy.address));
      await get('http://[2606:4700::1111]/', through(proxy.address));
      t.equal(proxy.asked[1], '8.8.8.8:81');
      t.match(
        proxy.asked[2],
        kind === 'http' ? '[2606:4700::1111]:80' : '26064700000000000000000000001111:80',
      );
    }
    const proxy = await startTestProxy(t, kind, { targetPort: secure });
    const { get } = startWorld(t, [], { ca: certificate.cert });
    t.equal((await get('https://shop.example/', through(proxy.address))).body.toString(), 'safe');
    t.same(proxy.asked, ['shop.example:443']);
  });
}

t.test('an https proxy, and TLS within TLS', async (t) => {
  const secure = await listen(
    t,
    createHttpsServer(certificate, (_, response) => response.end('safe')),
  );
  const notes = { asked: [], logins: [] };
  const serve = createTlsServer(certificate, (socket) => serveConnect(socket, { targetPort: secure }, notes));
  const port = await listen(t, serve);
  const address = { kind: 'https', host: '127.0.0.1', port } as const;
  const { get, engine } = startWorld(t, [], { ca: certificate.cert });
  t.equal((await get('https://shop.example/', through(address))).body.toString(), 'safe');
  t.same(notes.asked, ['shop.example:443']);
  await engine.close();
  t.equal(engine.stats().sockets, 0);
  const { failing } = startWorld(t, []);
  t.match(await failing('https://shop.example/', through(address)), {
    code: 'PROXY',
    sent: false,
    hint: /certificate/,
  });
});

t.test('what is the fault of the proxy', async (t) => {
  const site = await startSite(t, (_, response) => response.end());
  const silent = await startRaw(t, () => undefined);
  const closing = await startRaw(t, (socket) => socket.end());
  const resetting = await startRawAnswer(t, (socket) => socket.resetAndDestroy());
  const babbling = await startRawAnswer(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n\r\n'));
  const endless = await startRawAnswer(t, (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}`),
  );
  const cut = await startRawAnswer(t, (socket) => socket.end('\x05'));
  const { failing } = startWorld(t, []);
  for (const kind of ['http', 'socks5', 'https'] as const) {
    for (const [name, port] of Object.entries({
      refused: 1,
      silent,
      closing,
      resetting,
      babbling,
      endless,
      cut,
    })) {
      const startedAt = performance.now();
      const failure = await failing('http://shop.example/', through({ kind, host: '127.0.0.1', port }));
      t.match(failure, { code: 'PROXY', sent: false }, `${kind} ${name}: ${failure.message}`);
      t.ok(performance.now() - startedAt < 4000, 'within the limit for a connection');
    }
  }
  for (const refuse of [400, 403, 407, 429, 500, 502, 503, 504]) {
    const { address } = await startTestProxy(t, 'http', { targetPort: site, refuse });
    t.match(
      await failing('http://shop.example/', through(address)),
      { code: 'PROXY', sent: false },
      `CONNECT ${refuse}`,
    );
  }
  for (const refuse of [1, 2, 7, 8, 200]) {
    const { address } = await startTestProxy(t, 'socks5', { targetPort: site, refuse });
    t.match(
      await failing('http://shop.example/', through(address)),
      { code: 'PROXY', sent: false },
      `SOCKS ${refuse}`,
    );
  }
  const nowhere = { kind: 'http', host: 'proxy.invalid', port: 80 } as const;
  t.match(
    await failing('http://shop.example/', through(nowhere)),
    { code: 'PROXY', sent: false },
    'no such name',
  );
  const hanging = through({ kind: 'http', host: '127.0.0.1', port: silent }, 200);
  t.match(
    await failing('http://shop.example/', hanging),
    { code: 'PROXY', sent: false },
    'also by the total deadline',
  );
});

t.test('what is the fault of the target, though it came through a proxy', async (t) => {
  const asked = await startRawAnswer(t, (socket) => socket.resetAndDestroy());
  const silent = await startRaw(t, () => undefined);
  const refusing = await startSite(t, (request, response) =>
    response.writeHead(Number(request.url?.slice(1))).end(),
  );
  const { failing, get } = startWorld(t, []);
  for (const kind of ['http', 'socks5'] as const) {
    const viaReset = await startTestProxy(t, kind, { targetPort: asked });
    t.match(await failing('http://shop.example/', through(viaReset.address)), {
      code: 'NETWORK',
      sent: true,
    });
    const viaSilent = await startTestProxy(t, kind, { targetPort: silent });
    t.match(
      await failing('https://shop.example/', through(viaSilent.address)),
      { code: 'TIMEOUT', sent: false },
      'TLS',
    );
    t.match(await failing('http://shop.example/', through(viaSilent.address, 300)), {
      code: 'TIMEOUT',
      sent: true,
    });
    const viaGood = await startTestProxy(t, kind, { targetPort: refusing });
    // In a tunnel every status is the site's own.
    for (const status of [407, 502, 503, 504]) {
      t.equal((await get(`http://shop.example/${status}`, through(viaGood.address))).status, status);
    }
  }
  for (const refuse of [3, 4, 5, 6]) {
    const { address } = await startTestProxy(t, 'socks5', { targetPort: asked, refuse });
    t.match(
      await failing('http://shop.example/', through(address)),
      { code: 'NETWORK', sent: false },
      `SOCKS ${refuse}`,
    );
  }
});

t.test('passwords are never told', async (t) => {
  const site = await startSite(t, (_, response) => response.end());
  const wrong = new Secret(`${CANARY}-wrong`);
  const { get, failing, engine } = startWorld(t, []);
  for (const kind of ['http', 'socks5'] as const) {
    const proxy = await startTestProxy(t, kind, { targetPort: site, needsLogin: true });
    await get('http://shop.example/', through(proxy.address));
    const address = { ...proxy.address, username: 'canary-user', password: wrong };
    const failures = [
      await failing('http://shop.example/', { egress: { id: `wrong-${kind}`, address } }),
      await failing('http://shop.example/', {
        egress: { id: `gone-${kind}`, address: { ...address, port: 1 } },
      }),
    ];
    for (const failure of failures) {
      t.equal(failure.code, 'PROXY');
      const told = [
        failure.message,
        failure.stack,
        failure.hint,
        inspect(failure, { depth: 20, showHidden: true }),
      ];
      t.notMatch(told.join('\n'), /canary/, failure.message);
      t.notMatch(told.join('\n'), Buffer.from(CANARY).toString('base64').slice(0, 12));
    }
  }
  t.notMatch(inspect(engine, { depth: 20, showHidden: true }), /canary/);
  t.notMatch(JSON.stringify(engine.stats()), /canary/);
});

t.test('an egress that gets another password is dialled anew', async (t) => {
  const site = await startSite(t, (_, response) => response.end());
  const proxy = await startTestProxy(t, 'http', { targetPort: site, needsLogin: true });
  const { get, failing } = startWorld(t, []);
  await get('http://shop.example/', through(proxy.address));
  await get('http://shop.example/', through({ ...proxy.address, password: new Secret(CANARY) }));
  t.equal(proxy.asked.length, 1, 'the same address in another object is the same');
  t.match(await failing('http://shop.example/', through({ ...proxy.address, password: new Secret('x') })), {
    code: 'PROXY',
  });
});
