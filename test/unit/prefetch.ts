import t from 'tap';
import { planPrefetch, PREFETCH_MAX_DEFAULT, type PrefetchFacts } from '../../src/policy/prefetch.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const limits = { leaseMs: 300_000, prefetchMax: PREFETCH_MAX_DEFAULT };

t.test('how much to hold', async (t) => {
  const table: readonly [string, PrefetchFacts, number, string][] = [
    ['nothing known yet', { concurrency: 10, running: 0, taskMs: undefined }, 20, 'unknown-duration'],
    ['nothing known, many slots', { concurrency: 900, running: 0, taskMs: undefined }, 1_000, 'ceiling'],
    ['no-ops', { concurrency: 10, running: 10, taskMs: 0.05 }, 1_000, 'ceiling'],
    ['no work at all', { concurrency: 1, running: 0, taskMs: 0 }, 1_000, 'ceiling'],
    ['1 ms, one slot', { concurrency: 1, running: 1, taskMs: 1 }, 1_000, 'rate'],
    ['2 ms, one slot', { concurrency: 1, running: 1, taskMs: 2 }, 500, 'rate'],
    ['a page', { concurrency: 10, running: 10, taskMs: 250 }, 40, 'rate'],
    ['a second each', { concurrency: 3, running: 3, taskMs: 1_000 }, 3, 'rate'],
    ['slow, a slot is free', { concurrency: 3, running: 2, taskMs: 10_000 }, 1, 'free-slot'],
    ['slow, none is free', { concurrency: 3, running: 3, taskMs: 10_000 }, 0, 'busy'],
  ];
  for (const [name, facts, perLane, reason] of table)
    t.same(planPrefetch(facts, limits), { perLane, reason }, name);
});

t.test('a short lease holds less', async (t) => {
  const facts = { concurrency: 10, running: 10, taskMs: 10 };
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
