/**
 * What the web does to a scraper, one task for each: every one ends in an outcome of its own kind, and the worker goes on
 * as if nothing had been, with no more memory, sockets and leases than before.
 */
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { openFetchWorld, type FetchWorld } from '../kit/fetch-world.ts';
import { itemsOf, task, visitor } from '../kit/visitor.ts';

const MB = 1024 * 1024;
const GROWTH_MAX_MB = 100;

const flags = {
  'fetch.robots': 'false',
  'fetch.timeout': '1500ms',
  'fetch.connectTimeout': '500ms',
  'fetch.headersTimeout': '800ms',
  'fetch.bodyTimeout': '800ms',
  'fetch.maxBytes': '2mb',
  'egress.perHour': '0',
};

/** The largest size of this process since it was asked. */
function watchSize(): () => number {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  return () => {
    clearInterval(timer);
    return (Math.max(most, process.memoryUsage.rss()) - before) / MB;
  };
}

async function isCalm(t: Test, world: FetchWorld, worker: Worker): Promise<void> {
  await world.until(() => worker.fetcher.stats().leases === 0 && worker.fetcher.stats().waiting === 0);
  await world.until(() => worker.fetcher.stats().sockets === 0 && world.site.sockets() === 0);
  t.equal(worker.inFlight(), 0);
  // The last words are on their way to the manager.
  for (let looks = 0; looks < 100 && (await world.leases()) > 0; looks += 1) await delay(10);
  t.equal(await world.leases(), 0, 'as the manager sees it');
  const after = await world.settle([task('after', `${world.site.url}/product/1`)]);
  t.equal(itemsOf(after.get('after'))[0]?.status, 200, 'the worker lives');
}

type Worker = Awaited<ReturnType<FetchWorld['start']>>;

t.test('sites', { timeout: 60_000 }, async (t) => {
  const inner = await openDemoSite(t);
  const unsafe = await Promise.all(
    (['self-signed', 'expired', 'wrong-host'] as const).map((fault) => openDemoSite(t, { tls: { fault } })),
  );
  const secure = unsafe.map(({ https }) => ({ url: https?.url ?? '', port: https?.port ?? 0 }));
  const world = await openFetchWorld(t, { flags, allow: secure });
  const worker = await world.start([visitor()], { concurrency: 8 });
  const { url: site } = world.site;
  const to = (target: string): string => `${site}/redirect-to?url=${encodeURIComponent(target)}`;
  await world.settle([task('warm', `${site}/product/1`)]);

  const cases: readonly (readonly [url: string, outcome: string])[] = [
    [`${site}/drip?bytes=100&ms=100`, 'TIMEOUT'],
    [`${site}/hang`, 'TIMEOUT'],
    [`${site}/slow?ms=5000`, 'TIMEOUT'],
    [`${site}/endless`, 'REJECTED'],
    [`${site}/big?bytes=50000000`, 'REJECTED'],
    [`${site}/big?bytes=50000000&chunked`, 'REJECTED'],
    [`${site}/bomb?mb=1000`, 'REJECTED'],
    [`${site}/redirect-loop/a`, 'REJECTED'],
    [`${site}/redirect/100`, 'REJECTED'],
    [to('ftp://files.example/'), 'REJECTED'],
    [to('javascript:alert(1)'), 'REJECTED'],
    [`${site}/truncated`, 'NETWORK'],
    [`${site}/truncated?chunked`, 'NETWORK'],
    [`${site}/reset`, 'NETWORK'],
    [`${site}/reset?late`, 'NETWORK'],
    [`${site}/many-headers?n=500`, 'done'],
    [`${site}/many-headers?n=5000`, 'INVALID'],
    [`${site}/endless-headers`, 'INVALID'],
    [`${site}/bad-http`, 'INVALID'],
    [`${site}/bad-gzip`, 'INVALID'],
    [`${site}/bad-gzip?kind=cut`, 'NETWORK'],
    [`${site}/bad-gzip?kind=unknown`, 'done'],
    [`${site}/charset/shift_jis?declare=lie`, 'done'],
    [`${site}/charset/windows-1251?declare=none`, 'done'],
    [`${site}/charset/euc-kr?declare=meta`, 'done'],
    [`${site}/status/500`, 'TARGET'],
    [`${site}/status/404`, 'REJECTED'],
    ...secure.map(({ url }) => [`${url}/product/1`, 'NETWORK'] as const),
    ['http://169.254.169.254/latest/meta-data/', 'REJECTED'],
    ['http://10.0.0.1/', 'REJECTED'],
    [`http://[::1]:${inner.port}/`, 'REJECTED'],
    [`http://[::ffff:127.0.0.1]:${inner.port}/`, 'REJECTED'],
    ['http://[::ffff:169.254.169.254]/', 'REJECTED'],
    [`http://127.0.0.1:${inner.port}/`, 'REJECTED'],
    [`http://localhost:${inner.port}/`, 'REJECTED'],
    [`http://2130706433:${inner.port}/`, 'REJECTED'],
    [`http://0x7f.1:${inner.port}/`, 'REJECTED'],
    [to('http://169.254.169.254/latest/meta-data/'), 'REJECTED'],
    [to(`http://127.0.0.1:${inner.port}/`), 'REJECTED'],
    [to(`http://[::ffff:7f00:1]:${inner.port}/`), 'REJECTED'],
  ];
  const endWatch = watchSize();
  const outcomes = await world.settle(
    cases.map(([url]) => task(url, url)),
    50_000,
  );
  const grewMb = endWatch();
  for (const [url, expected] of cases) {
    const outcome = outcomes.get(url);
    t.equal(outcome?.state === 'dead' ? outcome.error.code : outcome?.state, expected, url);
  }
  t.ok(grewMb < GROWTH_MAX_MB, `${Math.round(grewMb)} MB more at most`);
  t.equal(inner.log.length, 0, 'nobody was led to where he must not go');
  await isCalm(t, world, worker);
});

t.test('proxies', { timeout: 60_000 }, async (t) => {
  const world = await openFetchWorld(t, { flags });
  const through = visitor({ retries: 0, egress: { via: 'proxy', whenNone: 'fail' } });
  const worker = await world.start([through], { concurrency: 8 });
  const endWatch = watchSize();
  for (const kind of ['http', 'socks5'] as const)
    for (const behaviour of ['407', '502', 'hang', 'reset', 'refuse'] as const) {
      const id = `${kind}-${behaviour}`;
      const proxy = await openFakeProxy(t, { kind, behaviour });
      await world.call('proxies.add', { url: proxy.url, id });
      const outcomes = await world.settle([task(id, `${world.site.url}/product/1`)], 20_000);
      const outcome = outcomes.get(id);
      // SOCKS5 has words for a target that cannot be reached; CONNECT has none.
      const expected = id === 'socks5-502' ? 'NETWORK' : 'PROXY';
      t.equal(outcome?.state === 'dead' ? outcome.error.code : outcome?.state, expected, id);
      await world.call('proxies.rm', { ids: [id] });
      // Many that fail at one host would have it closed.
      await world.call('hosts.open', { host: `127.0.0.1:${world.site.port}` });
    }
  t.equal(world.site.log.length, 0, 'nothing got through');
  const good = await openFakeProxy(t, { kind: 'http' });
  await world.call('proxies.add', { url: good.url, id: 'good' });
  const inner = await world.settle([
    task('metadata', 'http://169.254.169.254/latest/meta-data/'),
    task('mapped', 'http://[::ffff:10.0.0.1]/'),
  ]);
  for (const outcome of inner.values()) t.match(outcome, { state: 'dead', error: { code: 'REJECTED' } });
  t.equal(good.log.length, 0, 'a proxy is not asked for what a worker must not have');
  const grewMb = endWatch();
  t.ok(grewMb < GROWTH_MAX_MB, `${Math.round(grewMb)} MB more at most`);
  await isCalm(t, world, worker);
});
