/** Every setting of fetching, as it shows at the site or in what becomes of the task; and the worker as it is started. */
import t from 'tap';
import { join } from 'node:path';
import { startActor } from '../../src/cluster/start-actor.ts';
import { projectRoot } from '../../src/project-root.ts';
import { openDemoSite, openFakeProxy } from '../kit/demo-world.ts';
import { openFetchWorld } from '../kit/fetch-world.ts';
import { quietLog } from '../kit/nats-server.ts';
import { itemsOf, task, visitor } from '../kit/visitor.ts';

t.test('limits of time, size and redirects', async (t) => {
  const world = await openFetchWorld(t, {
    flags: {
      'fetch.headersTimeout': '300ms',
      'fetch.bodyTimeout': '400ms',
      'fetch.timeout': '1500ms',
      'fetch.maxBytes': '100KB',
      'fetch.maxRedirects': '2',
    },
  });
  await world.start([visitor({ retries: 0 })]);
  const at = (path: string): string => world.site.url + path;
  const outcomes = await world.settle([
    task('headers', at('/slow?ms=20000')),
    task('body', at('/drip?ms=1000')),
    task('total', at('/drip?ms=100')),
    task('own total', at('/drip?ms=50'), { timeoutMs: 200 }),
    task('large', at('/big?bytes=200000')),
    task('bomb', at('/bomb?mb=64')),
    task('own size', at('/big?bytes=200000'), { maxBytes: 300_000 }),
    task('near', at('/redirect/2')),
    task('far', at('/redirect/3')),
  ]);
  const code = (key: string): string => {
    const outcome = outcomes.get(key);
    return outcome?.state === 'dead' ? outcome.error.code : (outcome?.state ?? '');
  };
  t.same(['headers', 'body', 'total', 'own total'].map(code), Array(4).fill('TIMEOUT'));
  t.same(['large', 'bomb', 'far'].map(code), Array(3).fill('REJECTED'));
  t.same(['own size', 'near'].map(code), ['done', 'done']);
});

t.test('a proxy that says nothing costs no longer than a connection may take', async (t) => {
  const world = await openFetchWorld(t, { flags: { 'fetch.connectTimeout': '200ms' } });
  const hanging = await openFakeProxy(t, { kind: 'http', behaviour: 'hang' });
  await world.call('proxies.add', { url: hanging.url, id: 'hanging' });
  await world.start([visitor({ retries: 0 })]);
  const outcome = (await world.settle([task('a', `${world.site.url}/health`)], 10_000)).get('a');
  t.match(outcome, { state: 'dead', error: { code: 'PROXY' } });
});

t.test('who we are, and what is asked', async (t) => {
  const world = await openFetchWorld(t, {
    flags: { 'fetch.robots': 'false', 'fetch.profile': 'firefox-linux', 'fetch.userAgent': 'robot/1' },
  });
  await world.start([visitor()]);
  await world.settle([
    task('browser', `${world.site.url}/private/a`),
    task('plain', `${world.site.url}/private/b`, { profile: 'plain' }),
  ]);
  const agentOf = (path: string): string | undefined =>
    world.site.log.find((record) => record.path === path)?.userAgent;
  t.match(agentOf('/private/a'), /Firefox/);
  t.equal(agentOf('/private/b'), 'robot/1');
  t.notOk(world.site.log.some(({ path }) => path === '/robots.txt'));
});

t.test('connections: so many to one site, and pools of others are closed', async (t) => {
  const second = await openDemoSite(t);
  const world = await openFetchWorld(t, {
    flags: { 'fetch.connectionsMax': '1', 'fetch.poolsMax': '1', 'fetch.robots': 'false' },
    allow: [second],
  });
  const worker = await world.start([visitor()], { concurrency: 5 });
  const tasks = Array.from({ length: 10 }, (_, n) => task(`k${n}`, `${world.site.url}/slow?ms=10&n=${n}`));
  await world.settle(tasks);
  t.equal(new Set(world.site.log.map(({ connection }) => connection)).size, 1);
  await world.settle([task('other', `${second.url}/health`)]);
  t.equal(worker.fetcher.stats().sockets, 1, 'the pool of the first site is gone');
});

t.test('redirects to another origin leave behind what was not meant for it', async (t) => {
  const other = await openDemoSite(t);
  const world = await openFetchWorld(t, { flags: { 'fetch.robots': 'false' }, allow: [other] });
  await world.start([visitor()]);
  const headers = { authorization: 'Bearer secret', cookie: 'own=1', 'x-mine': 'yes' };
  const there = `${world.site.url}/redirect-to?url=${encodeURIComponent(`${other.url}/headers`)}`;
  const outcome = (await world.settle([task('away', there, { headers })])).get('away');
  t.match(itemsOf(outcome), [{ status: 200, url: `${other.url}/headers` }]);
  const sent = other.log[0]?.rawHeaders ?? [];
  t.ok(sent.includes('yes'));
  t.notOk(sent.some((value) => /secret|own=1/.test(value)));
});

t.test('a worker as it is started: the scraper that comes along, its metrics, and a clean end', async (t) => {
  const world = await openFetchWorld(t);
  const { config } = world;
  const worker = await startActor(
    { ...config, worker: { ...config.worker, scrapers: [join(projectRoot, 'config/scrapers')] } },
    { role: 'worker', log: quietLog },
  );
  t.teardown(async () => {
    worker.abort();
    await worker.done;
  });
  const before = await (await fetch(`${worker.url}/metrics`)).text();
  t.match(before, /^trawl_fetch_leases\{[^}]*\} 0$/m, 'nothing is leased before the first task');

  const url = `${world.site.url}/product/1`;
  const outcome = (await world.settle([{ key: 'a', scraper: 'page', url }])).get('a');
  t.match(outcome, {
    state: 'done',
    result: { pages: 1, items: [{ url, status: 200, title: /\w/, egress: 'direct' }] },
  });
  const text = await (await fetch(`${worker.url}/metrics`)).text();
  t.match(text, /^trawl_fetches_total\{.*outcome="ok".*\} 2$/m);

  worker.quiet();
  await worker.done;
  t.equal(world.site.open(), 0);
  t.equal(await world.leases(), 0);
});

t.test('a profile that there is not is told at the start', async (t) => {
  const world = await openFetchWorld(t);
  const { config } = world;
  const wrong = { ...config, fetch: { ...config.fetch, profile: 'netscape' } };
  await t.rejects(startActor(wrong, { role: 'worker', log: quietLog }), {
    code: 'INVALID',
    message: /netscape/,
  });
});
