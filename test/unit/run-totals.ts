/** The totals of all runs: right also while a run goes from its own counters into the sum of the removed ones. */
import t from 'tap';
import { countsOfFinal, finalCounts, NO_COUNTS, type CountRecord } from '../../src/policy/counters.ts';
import { createRunTotals } from '../../src/policy/run-totals.ts';
import type { RunRecord } from '../../src/wire/run-record.ts';
import { runMark } from '../../src/wire/tally-record.ts';

function makeRun(id: string, changes: Partial<RunRecord> = {}): RunRecord {
  return {
    id,
    scraper: 's',
    state: 'active',
    priority: 0,
    createdAt: 1_000,
    lastSubmitAt: 1_000,
    taken: 1,
    standing: false,
    ...changes,
  };
}

const done = (count: number): CountRecord => ({ ...NO_COUNTS, accepted: count, done: count });

t.test('what a run ended with says what it says, also of tasks that died and were put back', async (t) => {
  const counts = { accepted: 10, duplicates: 2, done: 6, dead: 5, cancelled: 1, redriven: 3, items: 9 };
  t.same(countsOfFinal(finalCounts(counts)), { ...counts });
  t.equal(finalCounts(counts)['dead'], 2, 'people see who is dead now');
});

t.test('counters only grow, whichever replica tells them', async (t) => {
  const totals = createRunTotals();
  totals.hear('a', makeRun('a'));
  totals.read(new Map([['a', done(5)]]));
  totals.read(new Map([['a', done(3)]]));
  t.equal(totals.sum().done, 5);
  totals.hear('a', makeRun('a', { state: 'done', final: finalCounts(done(7)) }));
  t.equal(totals.sum().done, 7);
});

t.test(
  'a run that is removed is counted once at every moment, in whatever order it is heard of',
  async (t) => {
    const run = makeRun('a', { state: 'done', final: finalCounts(done(7)) });
    const gone = { counts: done(7), runs: [runMark(run)] };
    for (const goneFirst of [true, false]) {
      const totals = createRunTotals();
      totals.hear('a', run);
      const steps = [
        (): void => totals.hearGone(gone),
        (): void => totals.hear('a', undefined),
        (): void => totals.read(new Map([['a', NO_COUNTS]])),
      ];
      for (const step of goneFirst ? steps : steps.toReversed()) {
        step();
        t.equal(totals.sum().done, 7);
      }
      totals.hear('a', makeRun('a', { createdAt: 2_000 }));
      totals.read(new Map([['a', done(1)]]));
      t.equal(totals.sum().done, 8, 'a new run of the same name is another one');
    }
  },
);

t.test('runs that are worked on are read each time, the others in turn', async (t) => {
  const totals = createRunTotals();
  totals.hear('busy', makeRun('busy'));
  totals.hear('held', makeRun('held', { state: 'paused', pausedFrom: 'active' }));
  for (let n = 0; n < 50; n += 1) totals.hear(`q${n}`, makeRun(`q${n}`, { state: 'queued' }));
  const seen = new Set<string>();
  for (let look = 0; look < 3; look += 1) {
    const wanted = totals.toRead();
    t.ok(wanted.includes('busy') && wanted.includes('held'));
    t.ok(wanted.length <= 22);
    for (const id of wanted) seen.add(id);
  }
  t.equal(seen.size, 52, 'all of them have had their turn');
  t.same(totals.byState(), { queued: 50, active: 1, paused: 1 });
});
