import t from 'tap';
import { NO_COUNTS, type CountRecord } from '../../src/policy/counters.ts';
import { decideRun, RUN_END_DEFAULTS, type RunDecision, type RunFacts } from '../../src/policy/run-end.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const sealed: RunFacts = {
  state: 'active',
  standing: false,
  sealed: true,
  intakeOpen: 0,
  lastSubmittedAt: NOW - 1_000,
  activeSince: NOW - 3_600_000,
};
const settled: Partial<CountRecord> = { accepted: 10, done: 7, dead: 0, cancelled: 3, duplicates: 99 };

t.test('when a run ends, and how', async (t) => {
  const done = { verdict: 'end', state: 'done', reason: 'sealed' };
  const errors = { verdict: 'end', state: 'done_with_errors', reason: 'sealed' };
  t.same(decide(sealed, settled), done);
  t.same(decide(sealed, {}), done, 'nothing was submitted');
  t.same(decide(sealed, { ...settled, done: 6, dead: 1 }), errors);
  t.same(decide(sealed, { ...settled, dead: 2, redriven: 2 }), done, 'the dead were put back and are done');
  t.same(decide(sealed, { ...settled, done: 6, dead: 3, redriven: 2 }), errors, 'one died again');
});

t.test('what keeps it open', async (t) => {
  const open = (reason: string): object => ({ verdict: 'go-on', reason });
  t.same(decide({ ...sealed, intakeOpen: 1 }, settled), open('intake-open'));
  t.same(decide(sealed, { ...settled, done: 6 }), open('tasks-open'));
  t.same(decide(sealed, { ...settled, done: 6, dead: 1, redriven: 1 }), open('tasks-open'));
  for (const state of ['queued', 'paused', 'done', 'done_with_errors', 'cancelled'] as const)
    t.same(decide({ ...sealed, state }, settled), open('not-active'), state);
  t.same(decide({ ...sealed, standing: true }, settled), open('standing'));
});

t.test('a run that nobody seals ends when nothing comes for half a minute', async (t) => {
  const unsealed = { ...sealed, sealed: false };
  const at = (sinceMs: number, run: Partial<RunFacts> = {}): RunDecision =>
    decide({ ...unsealed, lastSubmittedAt: NOW - sinceMs, ...run }, settled);
  t.same(at(29_999), { verdict: 'go-on', reason: 'not-sealed', untilMs: NOW + 1 });
  t.same(at(30_000), { verdict: 'end', state: 'done', reason: 'idle' });
  t.match(at(-5_000), { reason: 'not-sealed' }, 'clocks differ');
  t.match(
    at(9e9, { activeSince: NOW - 29_999 }),
    { reason: 'not-sealed' },
    'it waited in line until just now',
  );
  t.match(at(30_000, { intakeOpen: 2 }), { reason: 'intake-open' });
  t.match(decide({ ...unsealed, lastSubmittedAt: undefined }, {}), { verdict: 'end', reason: 'idle' });
  t.match(decide(unsealed, { accepted: 1 }), { reason: 'tasks-open' });
});

function decide(run: RunFacts, counts: Partial<CountRecord>): RunDecision {
  return decideRun(run, { ...NO_COUNTS, ...counts }, { now: NOW, limits: RUN_END_DEFAULTS });
}
