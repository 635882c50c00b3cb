import t from 'tap';
import { createDesk } from '../kit/egress-desk.ts';

const DAY = 86_400_000;

t.test('one is sent to ask, with one request; the others get nothing until it is back', async (t) => {
  const desk = createDesk({ robots: true });
  const scout = desk.ask({ count: 50 });
  t.match(scout, { kind: 'granted', robots: { state: 'needed' }, leases: [{ permits: 1 }] });
  t.match(desk.ask({}, 'w2'), { kind: 'granted', robots: { state: 'coming', retryInMs: 500 }, leases: [] });
  t.match(desk.ask({ robots: 'ignored' }, 'w3'), {
    robots: { state: 'ignored' },
    leases: [{ permits: null }],
  });
  desk.report({ robots: [{ host: 'site', text: 'User-agent: *', keepMs: DAY }] });
  const answer = desk.ask({}, 'w2');
  t.match(answer, { robots: { state: 'known', text: 'User-agent: *', untilInMs: DAY } });
  const version = answer.kind === 'granted' && answer.robots.state === 'known' ? answer.robots.version : 0;
  t.match(desk.ask({ robots: version }, 'w2'), { robots: { state: 'same' } });
  desk.reload();
  t.match(desk.ask({ robots: version }, 'w2'), { robots: { state: 'same' } });
  desk.now += DAY;
  t.match(desk.ask({ robots: version }), { robots: { state: 'needed' } }, 'old rules are asked for again');
  t.match(desk.ask({ robots: version }, 'w2'), { robots: { state: 'same' } }, 'and used meanwhile');
});

t.test('a scout that does not come back is replaced', async (t) => {
  const desk = createDesk({ robots: true });
  desk.ask();
  desk.now += 10_000;
  t.match(desk.ask({}, 'w2'), { robots: { state: 'needed' } });
});

t.test('a host that cannot say is left alone, longer each time', async (t) => {
  const desk = createDesk({ robots: true });
  for (const waitMs of [60_000, 120_000, 240_000]) {
    t.match(desk.ask(), { robots: { state: 'needed' } });
    desk.report({ robots: [{ host: 'site', keepMs: 0 }], done: desk.book.leases().map(({ id }) => id) });
    t.strictSame(desk.denial(), { reason: 'host_closed', retryInMs: waitMs });
    desk.reload();
    t.match(desk.denial(), { reason: 'host_closed' });
    desk.now += waitMs;
  }
});

t.test('crawl-delay holds for everybody, up to a minute', async (t) => {
  const desk = createDesk({ robots: true });
  for (const [crawlDelayMs, delayMs] of [
    [5_000, 5_000],
    [900_000, 60_000],
  ] as const) {
    const host = `h${crawlDelayMs}`;
    const scout = desk.lease({ host });
    desk.use([scout]);
    desk.report({ robots: [{ host, text: '', crawlDelayMs, keepMs: DAY }] });
    t.match(desk.book.host(host, desk.now), { limits: { delayMs }, crawlDelayMs: delayMs });
    t.match(desk.denial({ host }), { reason: 'host_busy', retryInMs: delayMs });
    desk.now += delayMs;
    t.match(desk.lease({ host }), { spacingMs: delayMs });
  }
});
