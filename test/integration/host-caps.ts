/** Limits per host and proxy, as the site saw them, beside a host that has none. */
import t from 'tap';
import { openDemoSite } from '../kit/demo-world.ts';
import { openFetchWorld } from '../kit/fetch-world.ts';
import { task, visitor } from '../kit/visitor.ts';

const MINUTE_MS = 60_000;
const PROXIES = 3;
const CAP = 4;
/** The way through a proxy takes now longer, now shorter: that must be little of it. */
const DELAY_MS = 1_500;
const WIDE = 60;

t.test('a cap and a delay for each proxy at one host; the other host knows nothing of it', async (t) => {
  const wide = await openDemoSite(t);
  const world = await openFetchWorld(t, {
    flags: { 'fetch.robots': 'false', 'egress.perHour': '0' },
    allow: [wide],
    proxies: PROXIES,
  });
  const { site: narrow } = world;
  for (let n = 0; n < PROXIES; n += 1) wide.nameAddress(`127.0.0.${n + 2}`, `p${n}`);
  await world.call('hosts.set', {
    host: `127.0.0.1:${narrow.port}`,
    egressPerMinute: CAP,
    egressDelayMs: DELAY_MS,
    jitter: 0,
  });
  for (let n = 0; n < 2; n += 1) await world.start([visitor()], { concurrency: 10 });

  // More than the caps let through: the rest waits for the next minute.
  await world.world.put(
    Array.from({ length: 2 * PROXIES * CAP }, (_, n) => ({
      ...task(`n${n}`, `${narrow.url}/product/${n + 1}`),
      run: 'narrow',
    })),
  );
  const outcomes = await world.settle(
    Array.from({ length: WIDE }, (_, n) => task(`w${n}`, `${wide.url}/slow?ms=40&n=${n}`)),
    60_000,
  );
  t.ok([...outcomes.values()].every(({ state, faults }) => state === 'done' && faults.length === 0));
  await world.until(() => narrow.log.length >= PROXIES * CAP);

  const byProxy = new Map<string, number>();
  for (const { egress } of narrow.log) byProxy.set(egress, (byProxy.get(egress) ?? 0) + 1);
  t.same(
    [...byProxy].sort(),
    Array.from({ length: PROXIES }, (_, n) => [`p${n}`, CAP]),
    'each proxy its cap, to the last, and no more',
  );
  t.equal(narrow.seen.perWindow(MINUTE_MS, { by: 'host+ip' }), CAP);
  const apart = narrow.seen.spacing({ by: 'host+ip' });
  t.ok(apart >= DELAY_MS / 2, `${apart} ms apart through one proxy`);
  for (const id of byProxy.keys()) {
    const starts = narrow.log.filter(({ egress }) => egress === id).map(({ startMs }) => startMs);
    const span = Math.max(...starts) - Math.min(...starts);
    t.ok(span >= (CAP - 1) * DELAY_MS * 0.8, `${id}: ${Math.round(span)} ms from the first to the last`);
  }
  t.ok(narrow.seen.spacing() < DELAY_MS, 'but not through different ones');

  t.equal(wide.log.length, WIDE);
  t.ok(wide.seen.perWindow(MINUTE_MS, { by: 'host+ip' }) > CAP, 'no cap there');
  t.ok(wide.seen.spacing({ by: 'host+ip' }) < DELAY_MS, 'and no delay');
  t.ok(wide.seen.maxConcurrent({ by: 'host+ip' }) > 1);
});
