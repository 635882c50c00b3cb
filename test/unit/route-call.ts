import t from 'tap';
import type { Beat } from '../../src/domain/beat.ts';
import {
  decideNextTry,
  orderWorkers,
  pickFitWorkers,
  STRATEGIES,
  type Strategy,
  type Try,
} from '../../src/policy/route-call.ts';

const now = 1_000_000;
const limits = { intervalMs: 30_000, deadAfterMs: 120_000 };

function beat(id: string, changes: Partial<Beat> = {}): Beat {
  return {
    ...{ id, role: 'worker', host: 'h', place: 'p', pid: 1, version: '0', startedAt: 0, beatAt: now },
    ...{ status: 'running', paused: false, inFlight: 0, limits: {}, scrapers: ['shop'] },
    ...changes,
  };
}

t.test('only workers that are alive, run, are not paused and have the scraper are asked', async (t) => {
  const rows: [string, Beat[], object][] = [
    ['nobody there', [], { ok: false, reason: 'no-workers' }],
    ['no worker', [beat('c', { role: 'coordinator' })], { ok: false, reason: 'no-workers' }],
    ['late', [beat('w', { beatAt: now - 60_000 })], { ok: false, reason: 'no-workers' }],
    ['stopped', [beat('w', { status: 'stopped' })], { ok: false, reason: 'no-workers' }],
    [
      'other scrapers',
      [beat('w', { scrapers: ['b', 'a'] }), beat('v', { scrapers: undefined })],
      { ok: false, reason: 'unknown-scraper', scrapers: ['a', 'b'] },
    ],
    ['paused', [beat('w', { paused: true })], { ok: false, reason: 'not-ready' }],
    ['draining', [beat('w', { status: 'draining' })], { ok: false, reason: 'not-ready' }],
    [
      'some of each',
      [beat('w2'), beat('w3', { paused: true }), beat('w1'), beat('w4', { beatAt: 0 })],
      { ok: true, workers: ['w1', 'w2'] },
    ],
    ['a beat of the future', [beat('w', { beatAt: now + 5_000 })], { ok: true, workers: ['w'] }],
  ];
  for (const [name, beats, expected] of rows)
    t.match(pickFitWorkers(beats, 'shop', { now, limits }), expected, name);
});

t.test('the strategies', async (t) => {
  const workers = ['a', 'b', 'c'];
  const order = (strategy: Strategy, turn: number, loads: [string, number][] = [], random = 0): string =>
    orderWorkers(workers, { strategy, turn, random, loads: new Map(loads) }).join('');
  t.same(
    [0, 1, 2, 3].map((turn) => order('round_robin', turn)),
    ['abc', 'bca', 'cab', 'abc'],
  );
  t.same(
    [0, 0.34, 0.99].map((random) => order('random', 7, [], random)),
    ['abc', 'bca', 'cab'],
  );
  const rows: [string, number, [string, number][]][] = [
    ['bca', 0, [['a', 3], ['b', 0], ['c', 1]]], // prettier-ignore
    ['abc', 0, [['a', 1], ['b', 1], ['c', 1]]], // prettier-ignore
    ['bca', 1, [['a', 1], ['b', 1], ['c', 1]]], // prettier-ignore
    ['bac', 0, [['a', 2], ['b', 1]]], // prettier-ignore
    ['abc', 0, []],
  ];
  for (const [expected, turn, loads] of rows) t.equal(order('least_loaded', turn, loads), expected);
});

t.test('whatever the strategy, everybody stands in exactly once', async (t) => {
  for (let round = 0; round < 500; round += 1) {
    const workers = Array.from({ length: 1 + (round % 7) }, (_, n) => `w${n}`);
    const strategy = STRATEGIES[round % STRATEGIES.length] ?? 'random';
    const loads = new Map(workers.map((worker) => [worker, Math.floor(Math.random() * 3)]));
    const order = orderWorkers(workers, { strategy, turn: round, random: Math.random(), loads });
    t.same([...order].sort(), workers);
  }
});

t.test('refusals are passed over, a loss is followed by one more try', async (t) => {
  const order = ['a', 'b', 'c', 'd'];
  const refused = (worker: string): Try => ({ worker, end: 'refused' });
  const lost = (worker: string): Try => ({ worker, end: 'lost' });
  const rows: [Try[], object][] = [
    [[], { action: 'ask', worker: 'a' }],
    [[refused('a')], { action: 'ask', worker: 'b' }],
    [[refused('a'), refused('b'), refused('c')], { action: 'ask', worker: 'd' }],
    [order.map(refused), { action: 'give-up', reason: 'refused' }],
    [[lost('a')], { action: 'ask', worker: 'b' }],
    [[lost('a'), refused('b')], { action: 'ask', worker: 'c' }],
    [[lost('a'), lost('b')], { action: 'give-up', reason: 'lost' }],
    [[lost('a'), refused('b'), refused('c'), refused('d')], { action: 'give-up', reason: 'lost' }],
  ];
  for (const [tries, expected] of rows) t.same(decideNextTry(order, tries), expected);
  t.same(decideNextTry(['a'], [lost('a')]), { action: 'give-up', reason: 'lost' }, 'nobody is left');
});
