import t from 'tap';
import { Secret } from '../../src/domain/secret.ts';
import { createDesk } from '../kit/egress-desk.ts';

const MINUTE = 60_000;

t.test('a delay: one lease at a time, a turn of about a second, the next after the last start', async (t) => {
  const desk = createDesk({ host: { delayMs: 250 } });
  const first = desk.lease({ count: 50 });
  t.match(first, { egress: 'direct', permits: 4, spacingMs: 250, startInMs: 0 });
  t.match(desk.denial({}, 'w2'), { reason: 'host_busy', retryInMs: 1_000 }, 'when its turn can be over');
  desk.now += 800;
  const told = { lease: first.id, count: 4, latestAgoMs: 50 };
  desk.report({ started: [told] });
  t.match(
    desk.lease({ count: 1 }, 'w2'),
    { startInMs: 200, permits: 1 },
    'slow pages do not hold up the next',
  );
  desk.reload();
  t.match(desk.denial({}, 'w3'), { reason: 'host_busy' }, 'the next leader knows whose turn it is');
});

t.test('a lease that was given back leaves its distance behind, also for the next leader', async (t) => {
  const desk = createDesk({ host: { delayMs: 10_000 } });
  const lease = desk.lease();
  desk.now += 300;
  desk.use([lease], 'ok', { startedAgoMs: 100 });
  t.match(desk.denial(), { reason: 'host_busy', retryInMs: 9_900 });
  desk.reload();
  t.match(desk.denial(), { reason: 'host_busy', retryInMs: 9_900 });
  desk.now += 8_900;
  t.match(desk.lease(), { startInMs: 1_000 }, 'a second ahead is granted');
});

t.test('a turn that was not used is over after its grace, and cannot be renewed then', async (t) => {
  const desk = createDesk({ host: { delayMs: 1_000 } });
  const lease = desk.lease();
  t.equal(lease.validMs, 2_000);
  desk.now += 1_999;
  t.match(desk.denial({}, 'w2'), { reason: 'host_busy' });
  t.strictSame(desk.report({ renew: [lease.id] }).ended, [], 'in time');
  desk.now += 2_000;
  t.strictSame(desk.report({ renew: [lease.id] }).ended, [lease.id], 'too late');
  t.match(desk.lease({}, 'w2'), { startInMs: 1_000 }, 'as if it had started something at the last moment');
});

t.test('a delay per egress: others go on', async (t) => {
  const desk = createDesk({ host: { egressDelayMs: 500, jitter: 0.4 } });
  desk.addProxies(2);
  const leases = desk.leases({ count: 10 });
  t.strictSame(
    leases.map(({ permits, spacingMs, jitter }) => [permits, spacingMs, jitter]),
    [
      [2, 500, 0.4],
      [2, 500, 0.4],
    ],
  );
  t.match(desk.denial({}, 'w2'), { reason: 'rate_limited', retryInMs: 1_000 });
  desk.addProxies(1, { id: 'p9' });
  t.match(desk.lease({}, 'w2'), { egress: 'p9' });
});

t.test('requests at once are shared among those who ask', async (t) => {
  const desk = createDesk({ host: { concurrency: 6 } });
  const first = desk.lease({ count: 20, slots: 20 });
  t.match(first, { slots: 6, permits: null, validMs: 30_000 });
  t.match(desk.denial({ slots: 9, count: 9 }, 'w2'), { reason: 'host_busy', retryInMs: 2_000 });
  t.strictSame(desk.report({ renew: [first.id] }).ended, [first.id], 'it holds more than its share');
  desk.report({ done: [first.id] });
  t.equal(desk.lease({ count: 20, slots: 20 }).slots, 3);
  t.equal(desk.lease({ count: 20, slots: 20 }, 'w2').slots, 3);
  t.match(desk.denial({ count: 20, slots: 20 }), { reason: 'host_busy' });
  desk.reload();
  t.match(desk.denial({}, 'w3'), { reason: 'host_busy' }, 'held is held');
  desk.now += 60_000;
  t.equal(
    desk.lease({ count: 9, slots: 9 }, 'w3').slots,
    6,
    'holders that died are gone, and nobody else asks',
  );
});

t.test('a crowd is spread over the times at which the host can serve it', async (t) => {
  const desk = createDesk({ host: { delayMs: 2_000 } });
  desk.lease();
  const waits = Array.from({ length: 200 }, (_, index) => desk.denial({}, `w${index}`).retryInMs);
  t.strictSame(waits.slice(0, 3), [2_000, 4_000, 6_000]);
  t.equal(Math.max(...waits), 2_000 + 300_000, 'five minutes at most');
});

t.test(
  'throttled closes the host for all, for as long as it asks; then it is asked more slowly',
  async (t) => {
    const desk = createDesk();
    const [one, two] = [desk.lease(), desk.lease({}, 'w2')];
    desk.now += 100;
    const reply = desk.use([one], 'throttled', { retryAfterMs: 5_000, startedAgoMs: 50 });
    t.strictSame(reply.closed, [{ host: 'site', forMs: 5_000 }]);
    t.match(desk.denial(), { reason: 'host_closed', retryInMs: 5_000 });
    t.equal(desk.leases({ host: 'other' }).length, 1, 'others are open');
    t.strictSame(desk.report({ worker: 'w2', renew: [two.id] }).ended, [two.id]);
    const late = { lease: two.id, n: 0, outcome: 'throttled' as const, startedAgoMs: 60, ms: 1 };
    desk.report({ worker: 'w2', uses: [late], done: [two.id] });
    t.match(
      desk.book.host('site', desk.now),
      { adaptiveDelayMs: 1_000 },
      'what was under way tells nothing new',
    );
    desk.reload();
    t.match(desk.denial(), { reason: 'host_closed' });
    desk.now += 5_000;
    t.match(desk.lease(), { spacingMs: 1_000, permits: 1 });
    t.match(desk.book.host('site', desk.now), { state: 'open', adaptiveDelayMs: 1_000 });
  },
);

t.test('without a time it is closed longer each time; good answers bring it back to speed', async (t) => {
  const desk = createDesk();
  for (const [closedMs, delayMs] of [
    [30_000, 1_000],
    [60_000, 2_000],
    [120_000, 4_000],
  ] as const) {
    desk.use([desk.lease()], 'throttled');
    t.match(desk.book.host('site', desk.now), { state: 'closed', adaptiveDelayMs: delayMs });
    t.equal(desk.denial().retryInMs, closedMs);
    desk.now += closedMs + 5_000;
  }
  const speeds: number[] = [];
  for (let good = 0; good < 60; good += 1) {
    desk.use([desk.lease()]);
    desk.now += 5_000;
    speeds.push(desk.book.host('site', desk.now)?.adaptiveDelayMs ?? -1);
  }
  t.strictSame(
    [18, 19, 39, 59].map((index) => speeds[index]),
    [4_000, 2_000, 1_000, 0],
  );
  t.match(desk.lease(), { permits: null, spacingMs: 0 });
  const told = desk.events().filter((event) => !event.includes('closed') && !event.includes('open'));
  t.strictSame(told, [...slower(3), ...faster(3)]);
});

t.test(
  'a crowd that is told to slow down at the same time is one voice, however late each of them ends',
  async (t) => {
    const desk = createDesk();
    const leases = Array.from({ length: 8 }, (_, index) => desk.lease({}, `w${index}`));
    desk.now += 100;
    const said = (index: number, startedAgoMs: number, retryAfterMs?: number): void => {
      const use = {
        lease: leases[index]?.id ?? '',
        n: 0,
        outcome: 'throttled' as const,
        startedAgoMs,
        ms: 50,
      };
      const uses = [{ ...use, ...(retryAfterMs !== undefined && { retryAfterMs }) }];
      desk.report({ worker: `w${index}`, uses });
    };
    const slowness = (): number | undefined => desk.book.host('site', desk.now)?.adaptiveDelayMs;
    said(0, 90, 2_000);
    said(1, 80, 2_000);
    said(2, 80);
    desk.now += 20;
    said(3, 5, 2_000); // started before the news came to its worker
    t.equal(slowness(), 1_000);
    t.equal(desk.denial().retryInMs, 2_000, 'it is closed for as long as the last one was told');
    desk.now += 2_000;
    desk.book.tick(desk.now);
    t.match(desk.book.host('site', desk.now), { state: 'open' });
    said(4, 2_100); // slow pages
    said(5, 1_900, 500);
    t.equal(slowness(), 1_000);
    t.match(desk.denial({}, 'other'), { reason: 'host_closed' }, 'what it asks for is heeded all the same');
    desk.now += 500;
    desk.book.tick(desk.now);
    said(6, 0);
    t.equal(slowness(), 2_000, 'told again after it was open');
  },
);

const slower = (count: number): string[] =>
  Array.from({ length: count }, () => 'host site slower: throttled');
const faster = (count: number): string[] =>
  Array.from({ length: count }, () => 'host site faster: throttled');

t.test('a Retry-After beyond reason is cut', async (t) => {
  const desk = createDesk({ retryAfterMaxMs: 3_600_000 });
  desk.use([desk.lease()], 'throttled', { retryAfterMs: 10 ** 9 });
  t.equal(desk.denial().retryInMs, 3_600_000);
});

t.test('where limits are per egress, throttled closes the host for that egress', async (t) => {
  for (const options of [{ host: { egressDelayMs: 10 } }, { throttleScope: 'egress' as const }]) {
    const desk = createDesk(options);
    desk.addProxies(2);
    const lease = desk.lease();
    desk.use([lease], 'throttled');
    t.strictSame(desk.events().at(-1), `host site ${lease.egress} closed: throttled`);
    t.strictSame(
      desk.leases({ count: 5 }).map(({ egress }) => egress),
      ['p01'],
    );
  }
});

t.test('blocked: who can change his address comes again soon', async (t) => {
  const desk = createDesk();
  desk.addProxies(1, { control: new Secret('tcp://127.0.0.1:9051') });
  desk.use([desk.lease()], 'blocked');
  t.equal(desk.denial().retryInMs, 15_000);
});

t.test('blocked: another egress at once; on five within a minute, or directly, the host', async (t) => {
  const desk = createDesk();
  desk.addProxies(6);
  for (let index = 0; index < 4; index += 1) {
    desk.use([desk.lease()], 'blocked');
    desk.now += 100;
  }
  t.match(desk.lease(), { egress: 'p04' });
  desk.use([desk.lease({ only: 'p04' })], 'blocked');
  t.match(desk.denial(), { reason: 'host_closed', retryInMs: MINUTE });
  t.equal(desk.leases({ host: 'other', count: 9 }).length, 6, 'they are welcome elsewhere');
  desk.now += MINUTE;
  t.strictSame(
    desk.leases({ count: 9 }).map(({ egress }) => egress),
    ['p05'],
  );
  desk.reload();
  t.match(desk.denial({ only: 'p00' }), { reason: 'no_proxy_available' });
  desk.now += 600_000;
  t.match(desk.lease({ only: 'p00' }), { egress: 'p00' }, 'by time alone');

  const direct = createDesk();
  direct.use([direct.lease()], 'blocked');
  t.match(direct.denial(), { reason: 'host_closed', retryInMs: MINUTE });
  direct.now += MINUTE;
  direct.use([direct.lease()], 'blocked');
  t.match(direct.denial(), { retryInMs: 2 * MINUTE });
});

t.test('people close and open hosts', async (t) => {
  const desk = createDesk();
  desk.book.closeHost('site', { reason: 'they called' }, desk.now);
  t.match(desk.denial(), { reason: 'host_closed', retryInMs: 300_000 });
  t.match(desk.book.host('site', desk.now), { state: 'closed', closure: { reason: 'they called' } });
  desk.reload();
  desk.now += 86_400_000;
  t.match(desk.denial(), { reason: 'host_closed' }, 'until somebody opens it');
  desk.book.openHost('site', desk.now);
  t.equal(desk.leases().length, 1);
  desk.book.closeHost('site', { untilMs: desk.now + 1_000, reason: 'a moment' }, desk.now);
  t.match(desk.denial(), { retryInMs: 1_000 });
  t.strictSame(desk.book.gauges(desk.now).hostsClosed, 1);
});

t.test('limits: people’s own replace the usual ones, scrapers make them stricter', async (t) => {
  const desk = createDesk({ host: { delayMs: 1_000, concurrency: 4 } });
  desk.book.putHost({ type: 'host', host: 'site', limits: { delayMs: 0 } }, desk.now);
  t.match(desk.lease({ slots: 9, count: 9 }), { spacingMs: 0, slots: 4 });
  t.match(desk.book.hostRecord('site'), { limits: { delayMs: 0 } });
  t.equal(desk.book.hostRecord('other'), undefined);
  const strict = { host: 'b', limits: { delayMs: 5_000, concurrency: 9 } };
  t.match(desk.lease(strict), { spacingMs: 5_000, slots: 1 });
  t.match(desk.book.host('b', desk.now), { limits: { delayMs: 5_000, concurrency: 4 } });
});

t.test('stricter limits wait for the leases of freer days', async (t) => {
  const desk = createDesk();
  const open = desk.lease();
  t.equal(open.permits, null);
  const strict = { scraper: 'strict', limits: { delayMs: 1_000 } };
  t.match(desk.denial(strict), { reason: 'host_busy', retryInMs: 2_000 });
  desk.reload();
  t.match(desk.denial(strict), { reason: 'host_busy' }, 'also under the next leader, who does not know them');
  desk.now += 15_000 + 5_000 + 1_000;
  t.match(desk.lease(strict), { permits: 1 });
});

t.test('hosts that nobody needs to remember are forgotten', async (t) => {
  const desk = createDesk();
  for (let index = 0; index < 1_000; index += 1) desk.lease({ host: `h${index}` });
  desk.book.putHost({ type: 'host', host: 'kept', limits: { delayMs: 5 } }, desk.now);
  t.equal(desk.book.gauges(desk.now).hosts, 1_001);
  for (let step = 0; step < 20; step += 1) {
    desk.now += 60_000;
    desk.book.tick(desk.now);
  }
  t.match(desk.book.gauges(desk.now), { hosts: 1, leases: 0 });
});
