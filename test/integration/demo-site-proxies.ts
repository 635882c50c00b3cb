/** The fake proxies: they pass on from an address of their own, fail as told, record, and leave nothing behind. */
import t from 'tap';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FakeProxy } from '../../src/demo-site/fake-proxy.ts';
import { startFakeTor } from '../../src/demo-site/fake-tor.ts';
import type { Behaviour } from '../../src/demo-site/proxy-behaviour.ts';
import type { DemoSite } from '../../src/demo-site/site.ts';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';

const LOGIN = { username: 'us:er', password: 'p@ss' };
type Login = typeof LOGIN;

/** The status line and body of one page through an HTTP proxy's tunnel; rejects when there is none. */
async function throughTunnel(proxy: FakeProxy, target: string, path: string, login?: Login): Promise<string> {
  const headers = login
    ? {
        'proxy-authorization': `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`,
      }
    : {};
  const request = httpRequest({
    port: proxy.port,
    host: '127.0.0.1',
    method: 'CONNECT',
    path: target,
    headers,
    agent: false,
  });
  request.end();
  const [answer, socket] = (await once(request, 'connect')) as [{ statusCode: number }, Socket];
  if (answer.statusCode === 200) return ask(socket, path);
  socket.destroy();
  return String(answer.statusCode);
}

async function throughRequest(proxy: FakeProxy, url: string, login?: Login): Promise<string> {
  const headers = login
    ? {
        'proxy-authorization': `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`,
      }
    : {};
  const request = httpRequest({ port: proxy.port, host: '127.0.0.1', path: url, headers, agent: false });
  request.end();
  const [answer] = (await once(request, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  return `${answer.statusCode} ${await text(answer)}`;
}

/** SOCKS5 by hand; resolves to what the step that failed answered, in hex, or to the page. */
async function throughSocks(
  port: number,
  target: { host: string; port: number },
  path: string,
  login?: Login,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const say = (bytes: Buffer): Promise<string> =>
    new Promise((resolve, reject) => {
      socket.once('data', (answer: Buffer) => resolve(answer.toString('hex')));
      socket.once('error', reject).once('close', () => reject(new Error('closed')));
      socket.write(bytes);
    });
  await once(socket, 'connect');
  const chosen = await say(Buffer.from([5, 1, login ? 2 : 0]));
  if (chosen !== (login ? '0502' : '0500')) return chosen;
  if (login) {
    const { username, password } = login;
    const words = [
      Buffer.from([1, username.length]),
      Buffer.from(username),
      Buffer.from([password.length]),
      Buffer.from(password),
    ];
    const known = await say(Buffer.concat(words));
    if (known !== '0100') return known;
  }
  const head = Buffer.from([5, 1, 0, 3, target.host.length]);
  const reply = await say(
    Buffer.concat([head, Buffer.from(target.host), Buffer.from([target.port >> 8, target.port & 0xff])]),
  );
  if (!reply.startsWith('0500')) {
    socket.destroy();
    return reply.slice(0, 4);
  }
  return ask(socket, path);
}

async function ask(socket: Socket, path: string): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\r\n`);
  return text(socket);
}

type Use = (path: string) => Promise<string>;

/** The same for both kinds: one page of the site through the proxy. */
function useOf(proxy: FakeProxy, site: DemoSite): Use {
  return proxy.kind === 'http'
    ? (path) => throughTunnel(proxy, `127.0.0.1:${site.port}`, path)
    : (path) => throughSocks(proxy.port, { host: '127.0.0.1', port: site.port }, path);
}

t.test('requests in absolute form and tunnels, from an address of its own, with credentials', async (t) => {
  const site = await openDemoSite(t);
  const proxy = await openFakeProxy(t, { kind: 'http', credentials: LOGIN, outAddress: '127.0.0.7' });
  t.equal(proxy.url, `http://us%3Aer:p%40ss@127.0.0.1:${proxy.port}`);
  t.equal(await throughRequest(proxy, `${site.url}/ip`, LOGIN), '200 {"ip":"127.0.0.7"}');
  t.match(await throughRequest(proxy, `${site.url}/ip`), /^407/);
  t.match(await throughTunnel(proxy, `localhost:${site.port}`, '/ip', LOGIN), '{"ip":"127.0.0.7"}');
  t.equal(await throughTunnel(proxy, `127.0.0.1:${site.port}`, '/ip'), '407');
  t.equal(await throughTunnel(proxy, 'example.com:80', '/', LOGIN), '502', 'never leaves this machine');
  t.match(await throughRequest(proxy, 'http://example.com/', LOGIN), /^502/);
  t.match(await throughRequest(proxy, '/path', LOGIN), /^400/);
  t.same(
    proxy.log.map(({ method, target, deed }) => [method, target.replace(/\d+$/, ''), deed]),
    [
      ['GET', '127.0.0.1:', 'pass'],
      ['GET', '127.0.0.1:', 'stranger'],
      ['CONNECT', 'localhost:', 'pass'],
      ['CONNECT', '127.0.0.1:', 'stranger'],
      ['CONNECT', 'example.com:', 'pass'],
      ['GET', 'example.com:', 'pass'],
    ],
  );
  t.notMatch(JSON.stringify(proxy.log), /p@ss|cEBzcw/);
  const [seen] = site.log;
  t.notOk(
    seen?.rawHeaders.some((name) => name.toLowerCase().startsWith('proxy-')),
    'the site learns nothing',
  );
});

t.test('SOCKS5 with names, addresses and credentials', async (t) => {
  const site = await openDemoSite(t);
  const here = { host: '127.0.0.1', port: site.port };
  const proxy = await openFakeProxy(t, {
    kind: 'socks5',
    credentials: LOGIN,
    outAddress: '127.0.0.8',
    elsewhere: here,
  });
  t.match(await throughSocks(proxy.port, here, '/ip', LOGIN), '{"ip":"127.0.0.8"}');
  t.match(
    await throughSocks(proxy.port, { host: 'shop.test', port: 80 }, '/ip', LOGIN),
    '{"ip":"127.0.0.8"}',
  );
  t.equal(site.log.at(-1)?.host, 'shop.test');
  t.equal(await throughSocks(proxy.port, here, '/ip'), '05ff', 'no method');
  t.equal(await throughSocks(proxy.port, here, '/ip', { ...LOGIN, password: 'no' }), '0101', 'wrong login');
  t.equal(await throughSocks(proxy.port, { ...here, port: 1 }, '/ip', LOGIN), '0504', 'nobody listens there');
  t.same(
    proxy.log.map(({ deed }) => deed),
    ['pass', 'pass', 'stranger', 'stranger', 'pass'],
  );
});

for (const kind of ['http', 'socks5'] as const) {
  t.test(`${kind}: every way to fail, changed while it runs`, async (t) => {
    const site = await openDemoSite(t);
    const proxy = await openFakeProxy(t, { kind });
    const use = useOf(proxy, site);
    const outcome = async (behaviour: Behaviour): Promise<string> => {
      await proxy.set(behaviour);
      return use('/health').then(
        (answer) => (answer.endsWith('ok') ? 'ok' : answer),
        (error: unknown) => String((error as { code?: unknown }).code),
      );
    };
    t.equal(await outcome('ok'), 'ok');
    t.equal(await outcome('407'), kind === 'http' ? '407' : '05ff');
    t.equal(await outcome('502'), kind === 'http' ? '502' : '0504');
    t.equal(await outcome('reset'), 'ECONNRESET');
    t.equal(await outcome('refuse'), 'ECONNREFUSED');
    const before = performance.now();
    t.equal(await outcome({ slowMs: 40 }), 'ok', 'back on the same port');
    t.ok(performance.now() - before >= 39);
    t.same(
      [
        await outcome({ dieAfter: 1 }),
        await use('/health').catch(() => 'dead'),
        await use('/health').catch(() => 'dead'),
      ].map((answer) => (answer.endsWith('ok') ? 'ok' : answer)),
      ['ok', 'dead', 'dead'],
    );
    await proxy.set({ flap: 0.5, seed: 5 });
    const answers = [];
    for (let index = 0; index < 12; index += 1) {
      answers.push(
        await use('/health').then(
          (answer) => answer.endsWith('ok'),
          () => false,
        ),
      );
    }
    t.ok(answers.includes(true) && answers.includes(false), answers.join());
    t.same(
      proxy.log.slice(-12).map(({ deed }) => deed === 'pass'),
      answers,
      'the record agrees',
    );
  });

  t.test(`${kind}: hanging and open connections end when it closes`, async (t) => {
    const site = await openDemoSite(t);
    const proxy = await openFakeProxy(t, { kind });
    const use = useOf(proxy, site);
    const tunnel = use('/hang').catch(() => '');
    await site.until(({ path }) => path === '/hang');
    t.ok(proxy.sockets() >= 2);
    await proxy.set('hang');
    t.equal(await tunnel, '', 'a tunnel does not outlive the change');
    const hanging = use('/health').then(
      () => 'answered',
      () => 'cut',
    );
    await proxy.until(({ deed }) => deed === 'hang');
    await proxy.close();
    t.equal(await hanging, 'cut');
    await site.until(({ path, endMs }) => path === '/hang' && endMs !== undefined);
    t.same([proxy.sockets(), site.open()], [0, 0]);
    await t.rejects(use('/health'), { code: 'ECONNREFUSED' });
  });
}

t.test('a site tells the proxies apart', async (t) => {
  const site = await openDemoSite(t);
  const proxies = await Promise.all(
    [2, 3, 4].map((number) => openFakeProxy(t, { kind: 'http', outAddress: `127.0.0.${number}` })),
  );
  for (const [index, { outAddress = '' }] of proxies.entries()) site.nameAddress(outAddress, `p${index}`);
  await Promise.all(proxies.flatMap((proxy) => [1, 2].map(() => useOf(proxy, site)('/product/1'))));
  const counts = new Map<string, number>();
  for (const { egress } of site.log) counts.set(egress, (counts.get(egress) ?? 0) + 1);
  t.same([...counts].sort(), [
    ['p0', 2],
    ['p1', 2],
    ['p2', 2],
  ]);
  t.equal(site.seen.perWindow(60_000, { by: 'egress' }), 2);
});

t.test('a stand-in for Tor changes its address on NEWNYM', async (t) => {
  const site = await openDemoSite(t);
  const tor = await startFakeTor({ addresses: ['127.0.0.2', '127.0.0.3'], password: 'a"b' });
  t.teardown(() => tor.close());
  const here = { host: '127.0.0.1', port: site.port };
  const control = async (...lines: string[]): Promise<string> => {
    const socket = connect(tor.controlPort, '127.0.0.1');
    socket.write(lines.map((line) => `${line}\r\n`).join(''));
    return text(socket);
  };
  t.match(await throughSocks(tor.socksPort, here, '/ip'), '127.0.0.2');
  t.equal(await control('SIGNAL NEWNYM'), '514 Authentication required.\r\n');
  t.equal(await control('AUTHENTICATE "no"'), '515 Authentication failed\r\n');
  t.equal(tor.rotations(), 0);
  t.equal(
    await control('authenticate "a\\"b"', 'signal newnym', 'SIGNAL DANCE', 'SING', 'QUIT'),
    '250 OK\r\n250 OK\r\n552 Unrecognized signal code "DANCE"\r\n510 Unrecognized command "SING"\r\n250 closing connection\r\n',
  );
  t.match(await control('PROTOCOLINFO 1', 'QUIT'), /250-AUTH METHODS/);
  t.same([tor.rotations(), tor.outAddress()], [1, '127.0.0.3']);
  t.match(await throughSocks(tor.socksPort, here, '/ip'), '127.0.0.3');
  await tor.close();
  t.equal(tor.sockets(), 0);
});
