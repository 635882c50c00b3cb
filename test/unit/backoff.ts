import t from 'tap';
import { BACKOFF_DEFAULTS, backoffMs } from '../../src/policy/backoff.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

t.test('the wait doubles from a minute up to an hour', async (t) => {
  const longest = [1, 2, 3, 6, 7, 8, 5_000].map((attempt) => backoffMs(attempt, BACKOFF_DEFAULTS, 1));
  t.same(longest, [60_000, 120_000, 240_000, 1_920_000, 3_600_000, 3_600_000, 3_600_000]);
  const shortest = [1, 2, 7, 5_000].map((attempt) => backoffMs(attempt, BACKOFF_DEFAULTS, 0));
  t.same(shortest, [30_000, 60_000, 1_800_000, 1_800_000]);
});

t.test('an attempt below the first is the first', async (t) => {
  t.equal(backoffMs(0, BACKOFF_DEFAULTS, 1), 60_000);
  t.equal(backoffMs(-3, BACKOFF_DEFAULTS, 1), 60_000);
});

t.test('bounds that never shrink, whatever the limits', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 2_000; round += 1) {
    const baseMs = random.int(2, 100_000);
    const limits = { baseMs, maxMs: baseMs + random.int(0, 10_000_000) };
    const attempt = random.int(1, 80);
    const ms = backoffMs(attempt, limits, random.next());
    const where = JSON.stringify({ limits, attempt, ms });
    if (ms < Math.floor(baseMs / 2) || ms > limits.maxMs) t.fail(`outside of the limits: ${where}`);
    for (const edge of [0, 1])
      if (backoffMs(attempt, limits, edge) > backoffMs(attempt + 1, limits, edge)) t.fail(`shrank: ${where}`);
    if (ms < backoffMs(attempt, limits, 0) || ms > backoffMs(attempt, limits, 1))
      t.fail(`outside of its band: ${where}`);
  }
  t.pass('2000 waits');
});
