/** What the demo site concludes from its record, and the counters behind its walls. */
import t from 'tap';
import { createRequestLog, type Arrival, type RequestRecord } from '../../src/demo-site/request-log.ts';
import { createRollingLimit } from '../../src/demo-site/rolling-limit.ts';
import { createRuleBook } from '../../src/demo-site/rules.ts';
import { findMaxConcurrent, findMaxPerWindow, findSpacing } from '../../src/demo-site/seen.ts';
import { createTurnstiles } from '../../src/demo-site/turnstile.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const ARRIVAL: Arrival = {
  startMs: 0,
  atEpochMs: 0,
  method: 'GET',
  path: '/a',
  host: 'h',
  secure: false,
  ip: '127.0.0.1',
  port: 1,
  connection: 1,
  egress: 'direct',
  userAgent: undefined,
  cookie: undefined,
  rawHeaders: [],
};

function record(startMs: number, endMs: number | undefined, about: Partial<Arrival> = {}): RequestRecord {
  return { ...ARRIVAL, ...about, startMs, endMs, seq: 1, status: 200, finished: endMs !== undefined };
}

t.test('spacing is the least distance of two starts in one group', async (t) => {
  t.equal(findSpacing([]), Infinity);
  t.equal(findSpacing([record(5, 6)]), Infinity);
  const records = [
    record(0, 1, { ip: 'a' }),
    record(10, 11, { ip: 'b', host: 'other' }),
    record(100, 101, { ip: 'a' }),
    record(130, 131, { ip: 'b', path: '/b/1' }),
  ];
  t.equal(findSpacing(records), 10);
  t.equal(findSpacing(records, { by: 'ip' }), 100);
  t.equal(findSpacing(records, { by: 'host' }), 30);
  t.equal(findSpacing(records, { by: 'host+ip' }), 100);
  t.equal(findSpacing(records, { by: 'egress', path: '/b' }), Infinity);
});

t.test('concurrency counts what was under way at one moment', async (t) => {
  t.equal(findMaxConcurrent([]), 0);
  t.equal(
    findMaxConcurrent([record(0, 10), record(10, 20)]),
    1,
    'the end of one may be the start of the next',
  );
  t.equal(findMaxConcurrent([record(0, 10), record(9, 20), record(9.5, 9.6)]), 3);
  t.equal(findMaxConcurrent([record(0, undefined), record(50, 60)]), 2, 'what has not ended is under way');
  t.equal(findMaxConcurrent([record(0, 9, { ip: 'a' }), record(1, 9, { ip: 'b' })], { by: 'ip' }), 1);
});

t.test('a window holds what started in less than its length', async (t) => {
  const records = [0, 10, 20, 30].map((startMs) => record(startMs, startMs + 1));
  t.equal(findMaxPerWindow([], 10), 0);
  t.equal(findMaxPerWindow(records, 10), 1);
  t.equal(findMaxPerWindow(records, 10.5), 2);
  t.equal(findMaxPerWindow(records, 1000), 4);
});

t.test('the measures agree with looking at every pair', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`SEED=${random.seed}`);
  for (let round = 0; round < 300; round += 1) {
    const records = Array.from({ length: random.int(0, 12) }, () => {
      const start = random.int(0, 50);
      return record(start, start + random.int(1, 20), { ip: random.pick(['a', 'b']) });
    }).sort((x, y) => x.startMs - y.startMs);
    const windowMs = random.int(1, 30);
    const window = records.map(
      (first) =>
        records.filter((other) => other.startMs >= first.startMs && other.startMs < first.startMs + windowMs)
          .length,
    );
    const under = records.map(
      ({ startMs }) =>
        records.filter((other) => other.startMs <= startMs && (other.endMs ?? Infinity) > startMs).length,
    );
    const gaps = records.slice(1).map((next, index) => next.startMs - (records[index]?.startMs ?? 0));
    t.equal(findMaxPerWindow(records, windowMs), Math.max(0, ...window));
    t.equal(findMaxConcurrent(records), Math.max(0, ...under));
    t.equal(findSpacing(records), Math.min(Infinity, ...gaps));
  }
});

t.test('the record is bounded, counts what it forgot, and wakes who waits', async (t) => {
  const log = createRequestLog(10);
  const waiting = log.until(({ startMs, endMs }) => startMs === 24 && endMs !== undefined);
  for (let index = 0; index < 25; index += 1) {
    const end = log.add({ ...ARRIVAL, startMs: index });
    if (index > 0) end({ endMs: index, status: 200, finished: true });
  }
  t.match(await waiting, { seq: 25, status: 200 });
  t.equal(log.open(), 1);
  t.equal(log.records().length + log.dropped(), 25);
  t.ok(log.records().length >= 10 && log.records().length < 20);
  t.match(await log.until(({ seq }) => seq === 25), { startMs: 24 }, 'what is past is found too');
  log.clear();
  t.same([log.records(), log.dropped()], [[], 0]);
});

t.test('a rolling limit never lets more through in any window', async (t) => {
  const limit = createRollingLimit({ max: 3, windowMs: 100 });
  t.same(
    [0, 10, 20, 30, 99].map((now) => limit.take('a', now)),
    [0, 0, 0, 70, 1],
  );
  t.equal(limit.take('b', 30), 0, 'another key');
  t.equal(limit.take('a', 100), 0, 'the first has left');
  t.equal(limit.take('a', 101), 9);
  limit.clear();
  t.equal(limit.take('a', 101), 0);
});

t.test('a turnstile closes after so many, and opens again', async (t) => {
  const turnstiles = createTurnstiles();
  const pass = (now: number): number => turnstiles.pass('k', { after: 2, closedMs: 100 }, now);
  t.same([0, 1, 2, 50, 102, 103, 104].map(pass), [0, 0, 100, 52, 0, 0, 100]);
  t.equal(turnstiles.pass('banned', { after: 0, closedMs: Infinity }, 5), Infinity);
  t.same([turnstiles.count('x'), turnstiles.count('x'), turnstiles.count('y')], [1, 2, 1]);
  turnstiles.clear();
  t.equal(turnstiles.count('x'), 1);
});

t.test('the first rule that fits decides', async (t) => {
  const rules = createRuleBook();
  const judge = (path: string, nowMs = 0): unknown => rules.judge({ path, ip: 'a', nowMs });
  t.equal(judge('/x'), undefined);
  rules.set([
    { prefix: '/down', status: 503, retryAfterS: 7 },
    { prefix: '/slow', delayMs: 20 },
    { prefix: '/few', perIp: { max: 1, windowMs: 3_600_000 } },
    { prefix: '/', perIp: { max: 1, windowMs: 1000 }, status: 403 },
  ]);
  t.same(judge('/down/1'), { delayMs: 0, refusal: { status: 503, retryAfterS: 7 } });
  t.same(judge('/slow'), { delayMs: 20, refusal: undefined });
  t.same(judge('/few'), { delayMs: 0, refusal: undefined });
  t.same(judge('/few', 1000), { delayMs: 0, refusal: { status: 429, retryAfterS: 3599 } });
  t.same(judge('/other'), { delayMs: 0, refusal: undefined });
  t.match(judge('/other'), { refusal: { status: 403, retryAfterS: 1 } });
  rules.clear();
  t.same(judge('/few', 1000), { delayMs: 0, refusal: undefined }, 'used up no more');
});
