import t from 'tap';
import { createDesk, WORKER } from '../kit/egress-desk.ts';
import { mostWithin } from '../kit/egress-world.ts';
import { createRandom } from '../kit/random.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

t.test(
  'the 51st in a rolling hour is refused, to ten workers alike, with the time to come again',
  async (t) => {
    const desk = createDesk();
    desk.addProxies(1);
    const start = Math.ceil(desk.now / HOUR) * HOUR;
    desk.now = start;
    for (let index = 0; index < 50; index += 1) {
      const worker = `w${index % 10}`;
      const lease = desk.lease({}, worker);
      const use = { lease: lease.id, n: 0, outcome: 'ok' as const, startedAgoMs: 0, ms: 1 };
      desk.report({ worker, uses: [use], done: [lease.id] });
    }
    t.strictSame(desk.denial({}, 'w3'), { reason: 'rate_limited', retryInMs: HOUR });
    t.match(desk.book.proxy('p00', desk.now), { state: 'rate_limited', until: start + HOUR, usedHour: 50 });
    desk.reload();
    t.strictSame(
      desk.denial({}, 'w4'),
      { reason: 'rate_limited', retryInMs: HOUR },
      'also of the next leader',
    );
    desk.now = start + HOUR - 1;
    t.match(desk.denial(), { reason: 'rate_limited' });
    desk.now = start + HOUR;
    t.match(desk.lease({ count: 60 }), { egress: 'p00', permits: 50 }, 'free by time alone, all of it');
    t.match(desk.events(), ['proxy p00 available: new', 'proxy p00 rate_limited: budget used up']);
  },
);

t.test('what is given back unsent is free at once; what nobody heard of counts from its end', async (t) => {
  const desk = createDesk({ proxyCaps: { perHour: 10, perMinute: 0 } });
  desk.addProxies(1);
  const lease = desk.lease({ count: 10 });
  t.equal(lease.permits, 10);
  t.match(desk.denial(), { reason: 'rate_limited', retryInMs: 2_000 }, 'it may come back soon');
  const use = { lease: lease.id, outcome: 'ok' as const, startedAgoMs: 0, ms: 1 };
  desk.report({
    uses: [
      { ...use, n: 0 },
      { ...use, n: 1, outcome: 'unsent' },
    ],
  });
  t.match(desk.book.proxy('p00', desk.now), { usedHour: 9 });
  desk.report({ done: [lease.id] });
  t.equal(desk.lease({ count: 10 }).permits, 9, 'one was sent');
  desk.now += 60_000;
  desk.book.tick(desk.now);
  t.match(desk.denial(), { reason: 'rate_limited' }, 'its holder died, and so it counts');
  t.strictSame(desk.book.leases(), []);
  desk.now += HOUR + MINUTE;
  t.equal(desk.lease({ count: 10 }).permits, 10);
});

t.test('a report counts once, however often and late it comes', async (t) => {
  const desk = createDesk({ proxyCaps: { perHour: 10, perMinute: 0 } });
  desk.addProxies(1);
  const lease = desk.lease({ count: 3 });
  const uses = [2, 0, 0, 2].map((n) => ({
    lease: lease.id,
    n,
    outcome: 'ok' as const,
    startedAgoMs: 0,
    ms: 1,
  }));
  for (let times = 0; times < 3; times += 1) desk.report({ uses });
  t.match(desk.book.leases(), [{ permits: 3, permitsLeft: 1 }]);
  desk.reload();
  desk.report({ uses });
  t.match(desk.book.leases(), [{ permits: 3, permitsLeft: 1 }], 'the next leader knows');
  t.match(desk.book.proxy('p00', desk.now), { usedHour: 3 });
  desk.report({ done: [lease.id, lease.id, 'unknown'] });
  t.match(desk.book.proxy('p00', desk.now), { usedHour: 2 });
  const late = desk.report({
    uses: [{ ...uses[0], lease: lease.id, n: 1 } as never],
    renew: [lease.id, 'x'],
  });
  t.strictSame(late.ended, [lease.id, 'x']);
  t.match(desk.book.proxy('p00', desk.now), { usedHour: 3 }, 'sent after all: counted late');
  desk.report({ uses: [{ ...uses[0], lease: lease.id, n: 99 } as never] });
  t.match(desk.book.proxy('p00', desk.now), { usedHour: 3 }, 'a number that was never granted');
  const stranger = desk.report({ worker: 'thief', renew: [desk.lease().id] });
  t.equal(stranger.ended.length, 1, 'a lease is its holder’s');
});

t.test('host × egress and host caps hold beside those of the proxy', async (t) => {
  const desk = createDesk({ host: { perMinute: 5, egressCaps: { perHour: 3, perMinute: 2 } } });
  desk.addProxies(3);
  const leases = desk.leases({ count: 9 });
  t.strictSame(
    leases.map(({ egress, permits }) => [egress, permits]),
    [
      ['p00', 2],
      ['p01', 2],
      ['p02', 1],
    ],
  );
  t.match(desk.denial(), { reason: 'host_busy' });
  t.equal(desk.leases({ host: 'other', count: 9 }).length, 3, 'another host is another matter');
});

t.test('a storm of ten workers with changes of leader: never over, and used to 95 percent', async (t) => {
  const random = createRandom(42);
  const hours = 12;
  const desk = createDesk({ proxyCaps: { perHour: 50, perMinute: 10 }, skewMs: 100 });
  desk.addProxies(4);
  const start = desk.now;
  const seen = new Map<string, number[]>();
  const open: { id: string; worker: string; left: number; sent: number; egress: string }[] = [];
  while (desk.now < start + hours * HOUR) {
    desk.now += random.int(200, 1_500);
    const worker = `w${random.int(0, 9)}`;
    const answer = desk.ask({ count: random.int(1, 8) }, worker);
    if (answer.kind === 'granted')
      for (const { id, permits, egress } of answer.leases)
        open.push({ id, worker, left: permits ?? 0, sent: 0, egress });
    for (const lease of open.splice(0)) {
      const unsent = random.chance(0.05);
      if (!unsent && lease.left > 0) {
        lease.left -= 1;
        seen.set(lease.egress, [...(seen.get(lease.egress) ?? []), desk.now]);
        const use = { lease: lease.id, n: lease.sent, outcome: 'ok' as const, startedAgoMs: 0, ms: 5 };
        lease.sent += 1;
        desk.report({ worker: lease.worker, uses: [use] });
      }
      if (unsent || lease.left === 0) desk.report({ worker: lease.worker, done: [lease.id] });
      else open.push(lease);
    }
    if (answer.kind === 'none') desk.now += Math.min(answer.retryInMs, 5_000);
    if (random.chance(0.002)) desk.reload();
  }
  let total = 0;
  for (const times of seen.values()) {
    t.ok(mostWithin(times, HOUR) <= 50, `${mostWithin(times, HOUR)} within an hour`);
    t.ok(mostWithin(times, MINUTE) <= 10, `${mostWithin(times, MINUTE)} within a minute`);
    total += times.length;
  }
  const part = total / (4 * 50 * hours);
  t.ok(part >= 0.95, `${(part * 100).toFixed(1)} % of what was allowed`);
});

t.test('caps that come later count what is held, and wait for what was not counted', async (t) => {
  const desk = createDesk({ proxyCaps: { perHour: 0, perMinute: 0 } });
  desk.addProxies(1);
  const open = desk.lease({ host: 'a' });
  t.equal(open.permits, null);
  desk.addProxies(1, { caps: { perHour: 1, perMinute: 0 } });
  t.match(desk.book.proxy('p00', desk.now), { state: 'cooling', reason: 'its caps have changed' });
  desk.now += 15_000 + 30_000;
  t.equal(desk.lease({ count: 5 }).permits, 1);
});

t.test('a proxy that was removed and brought back has spent what it had spent', async (t) => {
  const desk = createDesk({ proxyCaps: { perHour: 2, perMinute: 0 } });
  desk.addProxies(1);
  desk.use([desk.lease()]);
  const held = desk.lease();
  t.equal(desk.book.removeProxy('p00', desk.now), true);
  t.equal(desk.book.removeProxy('p00', desk.now), false);
  t.match(desk.report({ renew: [held.id] }).ended, [held.id], 'its lease ends at its next renewal');
  desk.addProxies(1);
  t.match(desk.denial({ via: 'proxy' }), { reason: 'rate_limited' });
  t.equal(desk.book.reset('p00', desk.now), true);
  t.equal(desk.lease({ count: 9 }).permits, 1, 'a person may zero the count; what is held is held');
  t.equal(desk.book.leases().filter(({ worker }) => worker === WORKER).length, 2);
});

t.test(
  'a crowd that is only too early comes back at the pace of the proxies, not of their budgets',
  async (t) => {
    const desk = createDesk({ host: { egressDelayMs: 1_000 } });
    desk.addProxies(2);
    t.equal(desk.leases({ count: 10 }).length, 2);
    const times = Array.from({ length: 20 }, (_, n) => desk.denial({}, `x${n}`).retryInMs);
    const [first = 0] = times;
    t.ok(Math.max(...times) <= first + 20 * 500, `with two proxies two a second: ${times.join()}`);
    t.ok(new Set(times).size === times.length, 'not all in the same instant');
  },
);
