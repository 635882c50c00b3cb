/** Pools: a bound on how many there are, what is closed when, and that all sockets are gone in the end. */
import t from 'tap';
import { setImmediate } from 'node:timers/promises';
import { startTestProxy } from '../kit/http-proxies.ts';
import { startSite, startWorld } from '../kit/http-world.ts';

t.test('a thousand proxies do not mean a thousand pools', async (t) => {
  const site = await startSite(t, (_, response) => response.end('x'));
  const proxy = await startTestProxy(t, 'http', { targetPort: site });
  const { engine, get } = startWorld(t, [], { poolsMax: 40 });
  let most = 0;
  let next = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (next < 1000) {
        next += 1;
        await get('http://shop.example/', { egress: { id: `p${next}`, address: proxy.address } });
        most = Math.max(most, engine.stats().sockets);
      }
    }),
  );
  const { pools, sockets } = engine.stats();
  t.ok(pools <= 41, `${pools} pools`);
  t.ok(most <= 80, `at most ${most} sockets at once`);
  t.ok(sockets <= 80);
  t.equal(proxy.asked.length, 1000, 'no connection was shared');
  await engine.close();
  t.same(engine.stats(), { pools: 0, sockets: 0, inFlight: 0 });
  // The servers' ends follow; this ends when no socket of either side is left.
  while (process.getActiveResourcesInfo().includes('TCPSocketWrap')) await setImmediate();
});

t.test('busy pools stay beyond the limit, and go when they are done', async (t) => {
  const waiting: (() => void)[] = [];
  let allIn = (): void => undefined;
  const all = new Promise<void>((resolve) => (allIn = resolve));
  const site = await startSite(t, (_, response) => {
    waiting.push(() => response.end('done'));
    if (waiting.length === 10) allIn();
  });
  const { engine, get } = startWorld(t, [site], { poolsMax: 2 });
  const sends = Array.from({ length: 10 }, (_, i) =>
    get(`http://127.0.0.1:${site}/`, { egress: { id: `d${i}` } }),
  );
  await all;
  t.equal(engine.stats().pools, 10);
  for (const answer of waiting) answer();
  for (const { body } of await Promise.all(sends)) t.equal(body.toString(), 'done', 'none was cut');
  while (engine.stats().pools > 2) await setImmediate();
});

t.test('the least recently used one goes', async (t) => {
  const opened: string[] = [];
  const site = await startSite(t, (request, response) => response.end(String(request.socket.remotePort)));
  const { get } = startWorld(t, [site], { poolsMax: 2 });
  const use = async (id: string): Promise<string> =>
    (await get(`http://127.0.0.1:${site}/`, { egress: { id } })).body.toString();
  for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) opened.push(await use(id));
  const [a1, b1, a2, , a3, b2] = opened;
  t.equal(a1, a2);
  t.equal(a1, a3, 'a was used between, and stays');
  t.not(b1, b2, 'b was not');
});

t.test('connections to one origin have a limit, and the rest waits for them', async (t) => {
  const ports = new Set<number | undefined>();
  const site = await startSite(t, (request, response) => {
    ports.add(request.socket.remotePort);
    response.end();
  });
  const { get, engine } = startWorld(t, [site], { connectionsPerOrigin: 3 });
  await Promise.all(Array.from({ length: 50 }, () => get(`http://127.0.0.1:${site}/`)));
  t.equal(ports.size, 3);
  t.equal(engine.stats().sockets, 3);
});

t.test('one after the other uses one connection', async (t) => {
  const ports = new Set<number | undefined>();
  const site = await startSite(t, (request, response) => {
    ports.add(request.socket.remotePort);
    response.end('page');
  });
  const { get } = startWorld(t, [site]);
  for (let i = 0; i < 20; i += 1) await get(`http://127.0.0.1:${site}/`);
  t.equal(ports.size, 1);
});

t.test('a request that gave up while it waited for a connection is not sent', async (t) => {
  const seen: (string | undefined)[] = [];
  let release = (): void => undefined;
  const site = await startSite(t, (request, response) => {
    seen.push(request.url);
    if (request.url === '/first') release = () => response.end();
    else response.end();
  });
  const { get, failing } = startWorld(t, [site], { connectionsPerOrigin: 1 });
  const first = get(`http://127.0.0.1:${site}/first`);
  const timeouts = { connectMs: 1000, headersMs: 1000, bodyMs: 1000, totalMs: 200 };
  t.match(await failing(`http://127.0.0.1:${site}/late`, { timeouts }), { code: 'TIMEOUT', sent: false });
  release();
  await first;
  await get(`http://127.0.0.1:${site}/next`);
  t.same(seen, ['/first', '/next']);
});
