import t from 'tap';
import { createDesk, type Desk } from '../kit/egress-desk.ts';

const MINUTE = 60_000;
const probe = { intervalMs: 300_000, timeoutMs: 10_000 };

function useOnce(desk: Desk, outcome: Parameters<Desk['use']>[1]): void {
  desk.now += 1_000;
  desk.use([desk.lease({ only: 'p00', via: 'proxy' })], outcome);
}

t.test('three failures of its own in a row disable a proxy; it comes back by time', async (t) => {
  const desk = createDesk();
  desk.addProxies(2);
  for (const outcome of ['proxy', 'proxy'] as const) useOnce(desk, outcome);
  t.match(desk.book.proxy('p00', desk.now), { state: 'available', failuresInARow: 2 });
  useOnce(desk, 'proxy');
  t.match(desk.book.proxy('p00', desk.now), {
    state: 'disabled',
    reason: 'failed 3 times in a row',
    since: desk.now,
    until: desk.now + 10 * MINUTE,
  });
  t.strictSame(desk.events(), ['proxy p00 disabled: failed 3 times in a row']);
  t.strictSame(
    desk.leases({ count: 5 }).map(({ egress }) => egress),
    ['p01'],
  );
  desk.reload();
  desk.now += 10 * MINUTE - 1;
  t.match(desk.denial({ only: 'p00' }), { reason: 'no_proxy_available', retryInMs: 1 });
  desk.now += 1;
  t.match(desk.lease({ only: 'p00' }), { egress: 'p00' });
  t.match(desk.events(), ['proxy p00 available: time has passed']);
  for (let failure = 0; failure < 3; failure += 1) useOnce(desk, 'proxy');
  t.match(desk.book.proxy('p00', desk.now), { until: desk.now + 20 * MINUTE }, 'twice as long');
});

t.test('what a target does is not its fault', async (t) => {
  for (const outcome of ['ok', 'target', 'blocked', 'throttled'] as const) {
    const desk = createDesk();
    desk.addProxies(1);
    useOnce(desk, 'proxy');
    useOnce(desk, 'proxy');
    useOnce(desk, outcome);
    t.match(desk.book.proxy('p00', desk.now), { state: 'available', failuresInARow: 0 }, outcome);
  }
  const desk = createDesk({ proxyCaps: { perHour: 0, perMinute: 0 } });
  desk.addProxies(1);
  for (let count = 0; count < 50; count += 1) useOnce(desk, 'target');
  t.match(desk.book.proxy('p00', desk.now), { state: 'available' }, 'fifty answers with 500');
});

t.test('a failure told twice is one', async (t) => {
  const desk = createDesk();
  desk.addProxies(1);
  const lease = desk.lease();
  for (let times = 0; times < 5; times += 1) desk.use([lease], 'proxy');
  t.match(desk.book.proxy('p00', desk.now), { state: 'available', failuresInARow: 1 });
});

t.test('trouble on the way makes it rest, not more', async (t) => {
  const desk = createDesk();
  desk.addProxies(1);
  for (let count = 0; count < 10; count += 1) useOnce(desk, count % 2 === 0 ? 'timeout' : 'network');
  t.match(desk.book.proxy('p00', desk.now), { state: 'cooling', until: desk.now + MINUTE });
  t.match(desk.denial(), { reason: 'no_proxy_available', retryInMs: MINUTE });
  desk.now += MINUTE;
  t.equal(desk.leases().length, 1);
});

t.test('people freeze and reset', async (t) => {
  const desk = createDesk();
  desk.addProxies(1);
  desk.book.freeze('p00', 'too slow', desk.now);
  t.match(desk.book.proxy('p00', desk.now), { state: 'frozen', reason: 'too slow' });
  desk.now += 86_400_000;
  t.match(desk.denial(), { reason: 'no_proxy_available' });
  desk.book.reset('p00', desk.now);
  t.match(desk.lease(), { egress: 'p00' });
  t.equal(desk.book.freeze('none', '', desk.now), false);
  t.strictSame(desk.events(), ['proxy p00 frozen: too slow', 'proxy p00 available: reset by a person']);
});

t.test('probes: at the start, at intervals, and before one comes back', async (t) => {
  const desk = createDesk({ probe });
  desk.addProxies(1);
  t.match(desk.book.proxy('p00', desk.now), { state: 'cooling', reason: 'awaits its first probe' });
  t.strictSame(desk.book.duesForProbe(desk.now), ['p00']);
  t.strictSame(desk.book.duesForProbe(desk.now), [], 'named once');
  const health = { lastCheck: desk.now, isHealthy: true, responseMs: 12, statusCode: 200 };
  desk.book.probed('p00', health, desk.now);
  t.match(desk.book.proxy('p00', desk.now), { state: 'available', health });
  desk.now += 299_999;
  t.strictSame(desk.book.duesForProbe(desk.now), []);
  desk.now += 1;
  t.strictSame(desk.book.duesForProbe(desk.now), ['p00']);
  const bad = { lastCheck: desk.now, isHealthy: false, statusCode: 502, error: 'status 502' };
  desk.book.probed('p00', bad, desk.now);
  t.match(desk.book.proxy('p00', desk.now), { state: 'disabled', reason: 'its probe failed', health: bad });
  desk.book.takeWrites(desk.now);
  desk.now += 86_400_000;
  t.match(desk.denial(), { reason: 'no_proxy_available' }, 'not by time: only a probe brings it back');
  desk.book.probed('p00', { ...health, lastCheck: desk.now }, desk.now);
  t.match(desk.lease(), { egress: 'p00' });
  desk.book.probed('nobody', health, desk.now);
});

t.test('a new one that nobody probes is not kept out for ever', async (t) => {
  const desk = createDesk({ probe });
  desk.addProxies(1);
  desk.now += 30_000;
  t.equal(desk.leases().length, 1);
});

t.test('what it wants to be told next is when something changes', async (t) => {
  const desk = createDesk();
  t.equal(desk.book.tick(desk.now), undefined);
  const lease = desk.lease();
  t.equal(desk.book.tick(desk.now), desk.now + lease.validMs + 30_000);
});
