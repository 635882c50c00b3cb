/** What a snapshot says about the load, who is sent away first, and what people are advised to do. */
import t from 'tap';
import { parseSnapshot, type Snapshot } from '../../src/domain/snapshot.ts';
import { ADVICE_DEFAULTS, advise } from '../../src/policy/autoscale/advise.ts';
import { noteChange } from '../../src/policy/autoscale/cooldown.ts';
import { backlogOf, readLoad, withInflow, type Load } from '../../src/policy/autoscale/load.ts';
import { pickToDrain } from '../../src/policy/autoscale/pick-worker.ts';
import { quietLoad } from '../kit/autoscale-scenarios.ts';
import { makeSnapshot, makeWorker } from '../kit/snapshots.ts';

t.test('a snapshot becomes a load', async (t) => {
  const snapshot: Snapshot = parseSnapshot(
    makeSnapshot({
      at: 5_000,
      queue: { lanes: [], ready: 100, running: 9, delayed: 1_000, intake: 70 },
      runs: { queued: 2, active: 1, paused: 0 },
      recent: { seconds: 60, done: 120, dead: 1, failed: 6, taskMs: 1_500 },
      workers: [
        makeWorker({ id: 'a', slots: 3, slotsNow: 3, busy: 3, starved: 2 }),
        makeWorker({ id: 'b', slots: 3, slotsNow: 1, busy: 1, status: 'initializing' }),
        makeWorker({ id: 'c', busy: 3, status: 'draining' }),
        makeWorker({ id: 'd', status: 'stopped' }),
      ],
    }),
  );
  const load = readLoad(snapshot);
  t.match(load, {
    at: 5_000,
    live: 2,
    draining: 1,
    slots: 2,
    busy: 4,
    starved: 2,
    taskMs: 1_500,
    donePerSecond: 2,
    failedPerSecond: 0.1,
  });
  t.equal(backlogOf(load), 100 + 7 + 2, 'ready, running that is fed, and one for each run that waits');
});

t.test('nobody there: nobody tells of slots or durations', async (t) => {
  const load = readLoad(makeSnapshot({}));
  t.equal(load.slots, undefined);
  t.equal(load.taskMs, undefined);
  t.equal(backlogOf(load), 0);
});

t.test('what keeps coming in is the median of the intervals', async (t) => {
  const series = (...accepted: number[]): Load[] =>
    accepted.map((total, place) => ({ ...quietLoad, at: place * 30_000, accepted: total }));
  const inflow = (...accepted: number[]): number | undefined => {
    const loads = series(...accepted);
    return withInflow(loads.at(-1) ?? quietLoad, loads.slice(0, -1)).inflowPerSecond;
  };
  t.equal(inflow(0), undefined, 'nobody has watched yet');
  t.equal(inflow(0, 30), undefined);
  t.equal(inflow(0, 30, 60, 90), 1, 'a stream');
  t.equal(inflow(0, 0, 9_000, 9_000, 9_000, 9_000), 0, 'a list at once is none');
  t.equal(inflow(5_000, 0, 30, 60, 90, 120), 1, 'a total that was reset takes nothing away');
  const unknown = [0, 1, 2, 3, 4].map((place) => ({
    ...quietLoad,
    at: place * 10_000,
    ready: place * 20,
    donePerSecond: 3,
  }));
  t.equal(
    withInflow(unknown[4] ?? quietLoad, unknown.slice(0, 4)).inflowPerSecond,
    5,
    'by what the queue grew and lost',
  );
});

t.test('the least busy goes first', async (t) => {
  const workers = [
    makeWorker({ id: 'old', busy: 0, startedAt: 1 }),
    makeWorker({ id: 'young', busy: 0, startedAt: 2 }),
    makeWorker({ id: 'busy', busy: 2 }),
    makeWorker({ id: 'paused', busy: 3, paused: true }),
    makeWorker({ id: 'going', busy: 0, status: 'draining' }),
  ];
  const ids = (count: number): string[] => pickToDrain(workers, count).map(({ id }) => id);
  t.strictSame(ids(2), ['paused', 'young']);
  t.strictSame(ids(9), ['paused', 'young', 'old', 'busy']);
  t.strictSame(ids(-1), []);
});

t.test('each change has its own time', async (t) => {
  const last = { lastUpAt: 1, lastDownAt: 2 };
  t.strictSame(noteChange(last, { action: 'up', reason: 'backlog' }, 9), { lastUpAt: 9, lastDownAt: 2 });
  t.strictSame(noteChange(last, { action: 'down', reason: 'idle' }, 9), { lastUpAt: 1, lastDownAt: 9 });
  t.strictSame(noteChange(last, { action: 'hold', reason: 'steady' }, 9), last);
  t.strictSame(noteChange(last, { action: 'repair', reason: 'below-min' }, 9), last);
  t.strictSame(
    noteChange(last, { action: 'up', reason: 'unknown-duration' }, 9),
    last,
    'a guess does not rest',
  );
  t.strictSame(noteChange(last, { action: 'down', reason: 'manual' }, 9), { lastUpAt: 9, lastDownAt: 9 });
});

t.test('advice', async (t) => {
  const of = (load: Partial<Load>, samples = 5): unknown => {
    const loads = Array.from({ length: samples }, () => ({ ...quietLoad, donePerSecond: 1, ...load }));
    const advised = advise(loads, ADVICE_DEFAULTS);
    return advised.kind === 'advised'
      ? advised.advice.map((each) => ('workers' in each ? `${each.action} ${each.workers}` : each.action))
      : advised;
  };
  t.strictSame(of({}, 4), { kind: 'insufficient', samples: 4, needed: 5 });
  t.strictSame(of({}, 5), []);
  t.strictSame(of({ ready: 20 }), [], 'ten for each');
  t.strictSame(of({ ready: 21 }), ['scale_up 2'], 'one for eight');
  t.strictSame(of({ ready: 800 }), ['scale_up 100']);
  t.strictSame(of({ donePerSecond: 9, failedPerSecond: 1 }), [], 'one of ten');
  t.strictSame(of({ donePerSecond: 89, failedPerSecond: 11 }), ['investigate_errors']);
  t.strictSame(of({ donePerSecond: 0.1, live: 9 }), []);
  t.strictSame(of({ donePerSecond: 0.09, live: 9 }), ['scale_down 6'], '70 % of nine');
  t.strictSame(of({ donePerSecond: 0, live: 2 }), [], 'two may stay');
  t.strictSame(of({ donePerSecond: 0, live: 3 }), ['scale_down 2']);
  t.strictSame(
    of({ ready: 800, running: 6, busy: 6, starved: 4 }),
    ['feed_egress'],
    'more workers would wait too',
  );
});
