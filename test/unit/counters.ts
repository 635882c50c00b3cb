import t from 'tap';
import { describeCounts, NO_COUNTS, sumCounts, type CountRecord } from '../../src/policy/counters.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

t.test('the sum of all writers', async (t) => {
  t.same(sumCounts([]), NO_COUNTS);
  const one: CountRecord = {
    accepted: 1,
    duplicates: 2,
    done: 3,
    dead: 4,
    cancelled: 5,
    redriven: 6,
    items: 7,
  };
  const ten: CountRecord = {
    accepted: 10,
    duplicates: 20,
    done: 30,
    dead: 40,
    cancelled: 50,
    redriven: 60,
    items: 70,
  };
  t.same(sumCounts([one, ten]), {
    accepted: 11,
    duplicates: 22,
    done: 33,
    dead: 44,
    cancelled: 55,
    redriven: 66,
    items: 77,
  });
});

t.test('a run in the middle, in every name', async (t) => {
  const counts = {
    ...NO_COUNTS,
    accepted: 100,
    duplicates: 5,
    done: 40,
    dead: 7,
    redriven: 2,
    cancelled: 3,
    items: 80,
  };
  t.same(describeCounts(counts, { running: 10, deferred: 20 }), {
    total: 100,
    queued: 22,
    running: 10,
    deferred: 20,
    done: 40,
    dead: 5,
    cancelled: 3,
    duplicates: 5,
    items: 80,
    pending: 22,
    claimed: 10,
    completed: 40,
    failed: 5,
    remaining: 52,
  });
});

t.test('what is a moment old gives way to what is exact', async (t) => {
  const counts = { ...NO_COUNTS, accepted: 10, done: 8 };
  const seen = (running: number, deferred: number): object => describeCounts(counts, { running, deferred });
  t.match(seen(5, 5), { queued: 0, running: 2, deferred: 0, remaining: 2 });
  t.match(seen(1, 5), { queued: 0, running: 1, deferred: 1 });
  t.match(seen(-1, -1), { queued: 2, running: 0, deferred: 0 });
});

t.test('the parts always add up', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 5_000; round += 1) {
    const some = (): number => random.int(0, random.pick([1, 10, 1_000]));
    const counts: CountRecord = {
      accepted: some() * random.pick([1, 5]),
      duplicates: some(),
      done: some(),
      dead: some(),
      cancelled: some(),
      redriven: some(),
      items: some(),
    };
    const seen = describeCounts(counts, { running: some() - 5, deferred: some() - 5 });
    const { total, queued, running, deferred, done, dead, cancelled } = seen;
    const where = JSON.stringify({ counts, seen });
    if (total !== queued + running + deferred + done + dead + cancelled) t.fail(`does not add up: ${where}`);
    if (seen.remaining !== seen.pending + seen.claimed + deferred) t.fail(`remaining: ${where}`);
    if (Object.values(seen).some((count) => count < 0)) t.fail(`negative: ${where}`);
    if (done !== counts.done || cancelled !== counts.cancelled) t.fail(`not exact: ${where}`);
  }
  t.pass('5000 runs');
});
