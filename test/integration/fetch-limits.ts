/** What the cluster promises a host, and what a worker does while nobody is there to grant anything. */
import t from 'tap';
import { startActor } from '../../src/cluster/start-actor.ts';
import { openFetchWorld } from '../kit/fetch-world.ts';
import { quietLog } from '../kit/nats-server.ts';
import { itemsOf, task, visitor } from '../kit/visitor.ts';

const many = (count: number, url: string): ReturnType<typeof task>[] =>
  Array.from({ length: count }, (_, n) => task(`k${n}`, `${url}${n}`));

t.test('so many at once, of all workers together', { timeout: 60_000 }, async (t) => {
  const world = await openFetchWorld(t, {
    flags: { 'egress.hostConcurrency': '3', 'fetch.robots': 'false' },
  });
  for (let n = 0; n < 3; n += 1) await world.start([visitor()], { concurrency: 5 });
  await world.settle(many(60, `${world.site.url}/slow?ms=30&n=`), 40_000);
  t.ok(world.site.seen.maxConcurrent() <= 3, `${world.site.seen.maxConcurrent()} at once`);
  t.equal(world.site.seen.maxConcurrent(), 3, 'and all of it is used');
});

t.test('so far apart, of all workers together', { timeout: 60_000 }, async (t) => {
  const world = await openFetchWorld(t, { flags: { 'egress.hostDelay': '100ms', 'fetch.robots': 'false' } });
  for (let n = 0; n < 2; n += 1) await world.start([visitor()], { concurrency: 3 });
  await world.settle(many(20, `${world.site.url}/product/`), 40_000);
  t.ok(world.site.seen.spacing() >= 99, `${world.site.seen.spacing()} ms`);
});

t.test('slow pages do not stretch the distance', { timeout: 60_000 }, async (t) => {
  const world = await openFetchWorld(t, { flags: { 'egress.hostDelay': '500ms', 'fetch.robots': 'false' } });
  await world.start([visitor()], { concurrency: 8 });
  await world.settle(many(6, `${world.site.url}/slow?ms=3000&n=`), 40_000);
  t.ok(world.site.seen.spacing() >= 499, `${world.site.seen.spacing()} ms`);
  t.ok(world.site.seen.maxConcurrent() >= 3, `${world.site.seen.maxConcurrent()} at once`);
});

t.test('limits that a scraper brings along count', { timeout: 60_000 }, async (t) => {
  const world = await openFetchWorld(t, { flags: { 'fetch.robots': 'false' } });
  await world.start([visitor({ limits: { concurrency: 1 } })]);
  await world.settle(many(10, `${world.site.url}/slow?ms=10&n=`), 20_000);
  t.equal(world.site.seen.maxConcurrent(), 1);
});

t.test('a proxy that is used up is not used, and the task waits for its time', async (t) => {
  const world = await openFetchWorld(t, {
    flags: { 'egress.perMinute': '2', 'fetch.robots': 'false' },
    proxies: 1,
  });
  await world.start([visitor()]);
  await t.rejects(world.settle(many(5, `${world.site.url}/product/`), 3_000), /2 of 5 tasks settled/);
  t.equal(world.site.log.length, 2);
});

t.test(
  'while nobody leads the work waits, and goes on when somebody does',
  { timeout: 60_000 },
  async (t) => {
    const world = await openFetchWorld(t, { flags: { 'fetch.robots': 'false' } });
    const worker = await world.start([visitor()]);
    const first = await world.settle([task('a', `${world.site.url}/product/1`)]);
    t.equal(itemsOf(first.get('a')).length, 1);
    // What is in hand is good without a manager, for a while.
    await world.until(() => worker.fetcher.stats().leases === 0);
    await world.stopManager();
    const settled = world.settle([task('b', `${world.site.url}/product/2`)], 30_000);
    await world.until(() => worker.fetcher.stats().waiting > 0);
    const next = await startActor(world.config, { role: 'proxy-manager', log: quietLog });
    t.teardown(async () => {
      next.abort();
      await next.done;
    });
    const outcome = (await settled).get('b');
    t.match(outcome, { state: 'done', faults: [] });
  },
);
