import t from 'tap';
import { mayReopen, reopenRun } from '../../src/policy/run-reopen.ts';
import type { RunRecord } from '../../src/wire/run-record.ts';

const NOW = 5_000;
const open: RunRecord = {
  id: 'r',
  scraper: 's',
  state: 'active',
  priority: 0,
  createdAt: 1,
  startedAt: 2,
  lastSubmitAt: 3,
  taken: 2,
  standing: false,
};
const ended: RunRecord = { ...open, state: 'done_with_errors', endedAt: 4, final: { dead: 1 } };

t.test('a run that has ended is active again, without its end, and closed', async (t) => {
  t.same(reopenRun(ended, NOW), { ...open, state: 'active', lastSubmitAt: NOW, sealed: { messages: 2 } });
  const sealed = { messages: 7 };
  t.match(reopenRun({ ...ended, state: 'done', sealed }, NOW), { state: 'active', sealed });
  t.match(reopenRun({ ...ended, state: 'cancelled' }, NOW), { state: 'active' });
});

t.test('whoever is about to end a run notices', async (t) => {
  const ahead = { ...open, lastSubmitAt: 9_000 };
  t.same(reopenRun(ahead, NOW), { ...ahead, lastSubmitAt: 9_001 }, 'also when clocks differ');
  t.same(reopenRun({ ...open, state: 'paused', pausedFrom: 'active' }, NOW)?.state, 'paused');
});

t.test('not a standing run, nor one that is being cancelled', async (t) => {
  const cancelling: RunRecord = { ...open, state: 'cancelled', endedAt: 4 };
  t.notOk(mayReopen(cancelling));
  t.equal(reopenRun(cancelling, NOW), undefined);
  t.equal(reopenRun({ ...ended, state: 'active', standing: true }, NOW), undefined);
});
