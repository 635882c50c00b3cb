/** The line that shows how far a run is. */
import t from 'tap';
import { renderRun } from '../../src/cli/follow-run.ts';

const run = { id: 'r', scraper: 's', state: 'active', priority: 0, createdAt: 0, standing: false } as const;
const counts = {
  total: 0,
  queued: 0,
  running: 0,
  deferred: 0,
  done: 0,
  dead: 0,
  cancelled: 0,
  duplicates: 0,
};

t.test('the bar gives way to the words', async (t) => {
  const far = { ...run, counts: { ...counts, total: 200, done: 96, dead: 4, running: 3, remaining: 100 } };
  t.equal(
    renderRun(far, 50, 120),
    '[############············]  50%  active  100/200  4 dead  3 running  50/s  2s left',
  );
  const narrow = renderRun(far, 50, 70);
  t.match(narrow, /^\[#{5}·{6}\] {2}50% .* 2s left$/);
  t.equal(narrow.length, 69, 'as wide as there is room, but for the last column');
  t.match(renderRun(far, 50, 20), /^\[####····\] {2}50% {2}active/, 'never less than a bar');
});

t.test('a run of nothing', async (t) => {
  const empty = { ...run, counts: { ...counts, remaining: 0 } };
  t.match(renderRun(empty, 0), /^\[·{24}\] {3}0% {2}active {2}0\/0 {2}0 dead {2}0 running {2}0\/s$/);
});
