/** Decisions of a worker about leases and about how much it holds of which lane. */
import t from 'tap';
import { planLaneTargets } from '../../src/policy/lane-targets.ts';
import { decideLease } from '../../src/policy/lease.ts';

t.test('a lease', async (t) => {
  const fresh = { now: 10_000, leasedAt: 10_000, livedAt: 10_000, beatAt: 10_000 };
  const cases = [
    ['just delivered', {}, 'keep'],
    ['a third is over', { leasedAt: 9_600 }, 'renew'],
    ['no life for a lease', { livedAt: 9_000, leasedAt: 9_600 }, 'unheard'],
    ['not renewed in time', { leasedAt: 9_000 }, 'lapsed'],
    ['no beat was taken for almost a lease', { beatAt: 9_050, leasedAt: 9_600 }, 'lapsed'],
    ['a beat just in time', { beatAt: 9_100, leasedAt: 9_600 }, 'renew'],
  ] as const;
  for (const [name, change, decision] of cases)
    t.equal(decideLease({ ...fresh, ...change }, 1_000), decision, name);
});

t.test('the lanes', async (t) => {
  const none = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  t.same(
    planLaneTargets(100, none),
    none.map(() => 100),
  );
  t.same(planLaneTargets(0, [5, 0, 0, 0, 0, 0, 0, 0, 0, 3]), none);
  t.same(planLaneTargets(100, [7, 0, 0, 0, 9, 0, 0, 0, 0, 0]), [5, 5, 5, 5, 100, 100, 100, 100, 100, 100]);
  t.same(
    planLaneTargets(1, [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
    none.map(() => 1),
  );
});
