import t from 'tap';
import { createRandom } from '../kit/random.ts';
import { createDesk, type Desk } from '../kit/egress-desk.ts';

const egresses = (desk: Desk, ...args: Parameters<Desk['leases']>): string[] =>
  desk.leases(...args).map(({ egress }) => egress);

t.test('least recently used first: never used is the oldest, ties by id', async (t) => {
  const desk = createDesk();
  desk.addProxies(5);
  t.strictSame(egresses(desk, { count: 2 }), ['p00', 'p01']);
  desk.now += 1;
  t.strictSame(egresses(desk, { count: 3 }), ['p02', 'p03', 'p04']);
  desk.now += 1;
  t.strictSame(egresses(desk, { count: 1 }), ['p00']);
  desk.now += 1;
  t.strictSame(egresses(desk, { count: 3 }), ['p01', 'p02', 'p03'], 'the same moment: by id');
  desk.addProxies(1, { id: 'p99' });
  t.strictSame(egresses(desk, { count: 2 }), ['p99', 'p04'], 'a new one goes first');
});

t.test('the order is that of a model that sorts, for every host and with restarts', async (t) => {
  const random = createRandom(5);
  const desk = createDesk({ proxyCaps: { perHour: 100_000, perMinute: 0 } });
  desk.addProxies(40);
  const usedAt = new Map(Array.from({ length: 40 }, (_, id) => [`p${String(id).padStart(2, '0')}`, 0]));
  for (let round = 0; round < 1_000; round += 1) {
    desk.now += random.int(0, 2);
    const count = random.int(1, 12);
    const tried = random.chance(0.3) ? [`p${random.int(10, 39)}`] : [];
    const expected = [...usedAt]
      .filter(([id]) => !tried.includes(id))
      .sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, count)
      .map(([id]) => id);
    const leases = desk.leases({ count, tried, host: `h${random.int(0, 5)}` });
    const got = leases.map(({ egress }) => egress);
    if (got.join() !== expected.join()) t.fail(`round ${round}: ${got.join()} instead of ${expected.join()}`);
    for (const id of got) usedAt.set(id, desk.now);
    if (random.chance(0.5)) desk.use(leases);
    if (random.chance(0.01)) desk.reload();
  }
  t.pass('1000 rounds');
});

t.test('more requests than proxies: each gets its part, and never one that was tried', async (t) => {
  const desk = createDesk();
  desk.addProxies(3);
  const leases = desk.leases({ count: 7, tried: ['p01'] });
  t.strictSame(
    leases.map(({ egress, permits }) => [egress, permits]),
    [
      ['p00', 4],
      ['p02', 3],
    ],
  );
  t.match(desk.denial({ tried: ['p00', 'p01', 'p02'] }), { reason: 'no_proxy_available' });
  t.strictSame(egresses(desk, { only: 'p02', tried: [] }), ['p02']);
  t.match(desk.denial({ only: 'gone' }), { reason: 'no_proxy_available' });
});

t.test('auto is direct until there is a proxy', async (t) => {
  const desk = createDesk();
  t.match(desk.lease({ count: 50 }), { egress: 'direct', permits: null, slots: null, validMs: 15_000 });
  t.match(desk.denial({ via: 'proxy' }), { reason: 'no_proxy_available', retryInMs: 60_000 });
  desk.addProxies(1);
  t.match(desk.lease(), { egress: 'p00', permits: 1 });
  t.match(desk.lease({ via: 'direct', tried: ['direct'] }), { egress: 'direct' }, 'there is no other');
});

t.test('a proxy of one machine is not for the others', async (t) => {
  const desk = createDesk();
  desk.addProxies(1, { id: 'there', machine: 'm2' });
  t.match(desk.denial(), { reason: 'no_proxy_available' });
  desk.addProxies(1, { id: 'here', machine: 'm1' });
  t.match(desk.lease(), { egress: 'here' });
});

t.test('a worker at its cap gets what it holds, and nothing else', async (t) => {
  const desk = createDesk({ proxiesPerWorkerMax: 2 });
  desk.addProxies(4);
  t.strictSame(egresses(desk, { count: 4 }), ['p00', 'p01']);
  desk.now += 1;
  t.strictSame(egresses(desk, { count: 4 }), ['p00', 'p01']);
  t.match(desk.denial({ tried: ['p00', 'p01'] }), { reason: 'cap_reached' });
  t.strictSame(egresses(desk, { count: 4 }, 'w2'), ['p02', 'p03'], 'each worker has its own cap');
});

t.test('an exclusive lease is nobody else’s, and none is given where somebody is', async (t) => {
  const desk = createDesk();
  desk.addProxies(2);
  const first = desk.lease({ exclusive: true });
  t.equal(first.egress, 'p00');
  t.match(desk.book.proxy('p00', desk.now), { state: 'leased', leases: 1 });
  t.strictSame(egresses(desk, { count: 5 }, 'w2'), ['p01']);
  t.match(desk.denial({ exclusive: true }, 'w2'), { reason: 'no_proxy_available', retryInMs: 2_000 });
  desk.reload();
  t.match(
    desk.denial({ exclusive: true }, 'w2'),
    { reason: 'no_proxy_available' },
    'also for the next leader',
  );
  desk.report({ done: [first.id] });
  desk.now += 1;
  t.equal(desk.lease({ exclusive: true }, 'w2').egress, 'p00');
  desk.now += 60_000;
  t.equal(desk.lease({ exclusive: true }).egress, 'p01', 'a lease ends by time when its holder is gone');
});

t.test('random and weighted reach all, and weights count', async (t) => {
  const random = createRandom(1);
  for (const select of ['random', 'weighted'] as const) {
    const desk = createDesk({ proxyCaps: { perHour: 0, perMinute: 0 } });
    desk.addProxies(10);
    desk.addProxies(1, { id: 'p00', weight: 0.1 });
    const counts = new Map<string, number>();
    for (let round = 0; round < 2_000; round += 1) {
      const want = { host: 'h', scraper: 's', count: 1, slots: 1, via: 'auto' as const, select };
      const request = { worker: 'w', machine: 'm', wants: [{ ...want, exclusive: false, tried: [] }] };
      const [answer] = desk.book.acquire(request, desk.now, () => random.next()).answers;
      const egress = answer?.kind === 'granted' ? answer.leases[0]?.egress : undefined;
      counts.set(egress ?? '', (counts.get(egress ?? '') ?? 0) + 1);
    }
    t.equal(counts.size, 10, 'all are used');
    const light = counts.get('p00') ?? 0;
    t.ok(select === 'random' ? light > 120 : light < 60, `${select}: ${light} of 2000`);
  }
});

t.test('sticky: the same key gets the same proxy, and only its keys move when one goes', async (t) => {
  const desk = createDesk({ proxyCaps: { perHour: 0, perMinute: 0 } });
  desk.addProxies(20);
  const home = (key: string): string => desk.lease({ select: 'sticky', stickTo: key }).egress;
  const keys = Array.from({ length: 200 }, (_, index) => `key ${index}`);
  const before = keys.map(home);
  t.ok(new Set(before).size > 12, 'keys are spread');
  t.strictSame(keys.map(home), before);
  desk.book.freeze('p07', 'tired', desk.now);
  keys.forEach((key, index) => {
    if (before[index] !== 'p07' && home(key) !== before[index]) t.fail(`${key} moved`);
    if (home(key) === 'p07') t.fail('frozen');
  });
  desk.book.reset('p07', desk.now);
  t.strictSame(keys.map(home), before, 'and come back with it');
});

t.test('ten thousand proxies: a grant of fifty is quick', async (t) => {
  const desk = createDesk({ proxyCaps: { perHour: 50, perMinute: 0 } });
  for (let index = 0; index < 10_000; index += 1)
    desk.book.putProxy(
      { type: 'proxy', id: `x${index}`, address: { kind: 'http', host: 'h', port: 1 }, weight: 1 },
      desk.now,
    );
  const took: number[] = [];
  for (let round = 0; round < 400; round += 1) {
    desk.now += 1;
    const began = performance.now();
    const leases = desk.leases({ count: 50, host: `h${round % 20}` });
    took.push(performance.now() - began);
    if (leases.length !== 50) t.fail(`${leases.length} leases`);
    desk.use(leases);
  }
  took.sort((a, b) => a - b);
  t.ok((took[200] ?? Infinity) < 5, `half of them within ${took[200]?.toFixed(2)} ms`);
});
