import t from 'tap';
import { planPrefetch, PREFETCH_MAX_DEFAULT, type PrefetchFacts } from '../../src/policy/prefetch.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const limits = { leaseMs: 300_000, prefetchMax: PREFETCH_MAX_DEFAULT };

t.test('how much to hold', async (t) => {
  const table: readonly [string, PrefetchFacts, number, string][] = [
    [
      'nothing known yet',
      { concurrency: 10, running: 0, taskMs: undefined, slowMs: [] },
      20,
      'unknown-duration',
    ],
    [
      'nothing known, many slots',
      { concurrency: 900, running: 0, taskMs: undefined, slowMs: [] },
      1_000,
      'ceiling',
    ],
    ['no-ops', { concurrency: 10, running: 10, taskMs: 0.05, slowMs: [] }, 1_000, 'ceiling'],
    ['no work at all', { concurrency: 1, running: 0, taskMs: 0, slowMs: [] }, 1_000, 'ceiling'],
    ['1 ms, one slot', { concurrency: 1, running: 1, taskMs: 1, slowMs: [] }, 1_000, 'rate'],
    ['2 ms, one slot', { concurrency: 1, running: 1, taskMs: 2, slowMs: [] }, 500, 'rate'],
    ['a page', { concurrency: 10, running: 10, taskMs: 250, slowMs: [] }, 40, 'rate'],
    ['a second each', { concurrency: 3, running: 3, taskMs: 1_000, slowMs: [] }, 3, 'rate'],
    ['slow, a slot is free', { concurrency: 3, running: 2, taskMs: 10_000, slowMs: [] }, 1, 'free-slot'],
    ['slow, none is free', { concurrency: 3, running: 3, taskMs: 10_000, slowMs: [] }, 0, 'busy'],
    [
      'quick ones, slow ones in all slots',
      { concurrency: 2, running: 2, taskMs: 1, slowMs: [5_000, 5_000] },
      0,
      'busy',
    ],
    [
      'slow ones in all slots, none has ended',
      { concurrency: 1, running: 1, taskMs: undefined, slowMs: [2_000] },
      0,
      'busy',
    ],
    [
      'slow ones in some slots, none has ended',
      { concurrency: 3, running: 3, taskMs: undefined, slowMs: [2_000] },
      4,
      'unknown-duration',
    ],
    [
      'quick ones beside one that hangs',
      { concurrency: 2, running: 2, taskMs: 10, slowMs: [60_000] },
      100,
      'rate',
    ],
    [
      'all as slow as usual',
      { concurrency: 2, running: 2, taskMs: 1_500, slowMs: [1_400, 1_200] },
      1,
      'rate',
    ],
  ];
  for (const [name, facts, perLane, reason] of table)
    t.same(planPrefetch(facts, limits), { perLane, reason }, name);
});

t.test('a short lease holds less', async (t) => {
  const facts = { concurrency: 10, running: 10, taskMs: 10, slowMs: [] };
  t.equal(planPrefetch(facts, { ...limits, leaseMs: 4_000 }).perLane, 1_000);
  t.equal(planPrefetch(facts, { ...limits, leaseMs: 400 }).perLane, 100);
});

t.test(
  'never more than can be started in a quarter of the lease, unless a slot is free for it',
  async (t) => {
    const random = createRandom(chooseSeed());
    t.comment(`seed ${random.seed}`);
    for (let round = 0; round < 5_000; round += 1) {
      const concurrency = random.int(1, 200);
      const facts = {
        concurrency,
        running: random.int(0, concurrency),
        taskMs: 10 ** (random.next() * 9 - 3),
        slowMs: Array.from({ length: random.int(0, concurrency) }, () => random.int(1_001, 100_000)),
      };
      const given = { leaseMs: random.int(100, 600_000), prefetchMax: random.int(1, 2_000) };
      const { perLane } = planPrefetch(facts, given);
      const startable = (concurrency * given.leaseMs) / 4 / facts.taskMs;
      const free = facts.running < concurrency;
      const where = JSON.stringify({ facts, given, perLane });
      if (perLane > Math.max(startable, free ? 1 : 0)) t.fail(`too many: ${where}`);
      if (free && perLane < 1) t.fail(`an idle slot gets nothing: ${where}`);
      if (perLane > given.prefetchMax || !Number.isInteger(perLane) || perLane < 0) t.fail(where);
      const slower = planPrefetch({ ...facts, taskMs: facts.taskMs * 2 }, given).perLane;
      if (slower > perLane) t.fail(`slower tasks, more held: ${where}`);
    }
    t.pass('5000 plans');
  },
);
