import t from 'tap';
import { changeRun, type RunEvent, type RunPhase } from '../../src/policy/run-state.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const finish: RunEvent = { kind: 'finish', withErrors: false };
const finishWithErrors: RunEvent = { kind: 'finish', withErrors: true };
const EVENTS: readonly [RunEvent, ...RunEvent[]] = [
  { kind: 'activate' },
  { kind: 'pause' },
  { kind: 'resume' },
  { kind: 'cancel' },
  finish,
  finishWithErrors,
];
const PHASES: readonly RunPhase[] = [
  { state: 'queued' },
  { state: 'active' },
  { state: 'paused', pausedFrom: 'queued' },
  { state: 'paused', pausedFrom: 'active' },
  { state: 'done' },
  { state: 'done_with_errors' },
  { state: 'cancelled' },
];

t.test('every state with every event', async (t) => {
  const show = (phase: RunPhase): string =>
    phase.state === 'paused' ? `paused(${phase.pausedFrom})` : phase.state;
  const table = PHASES.map((phase) => [
    show(phase),
    ...EVENTS.map((event) => {
      const change = changeRun(phase, event);
      return change.ok ? show(change.phase) : '-';
    }),
  ]);
  t.same(table, [
    //                   activate  pause             resume    cancel       finish  with errors
    ['queued', 'active', 'paused(queued)', '-', 'cancelled', '-', '-'],
    ['active', '-', 'paused(active)', '-', 'cancelled', 'done', 'done_with_errors'],
    ['paused(queued)', '-', '-', 'queued', 'cancelled', '-', '-'],
    ['paused(active)', '-', '-', 'active', 'cancelled', '-', '-'],
    ['done', '-', '-', '-', '-', '-', '-'],
    ['done_with_errors', '-', '-', '-', '-', '-', '-'],
    ['cancelled', '-', '-', '-', '-', '-', '-'],
  ]);
});

t.test('a refusal says why', async (t) => {
  t.same(changeRun({ state: 'done_with_errors' }, { kind: 'pause' }), {
    ok: false,
    problem: 'a run that is done with errors cannot be paused',
  });
  t.same(changeRun({ state: 'active' }, { kind: 'resume' }), {
    ok: false,
    problem: 'a run that is active cannot be resumed: only a paused run can',
  });
});

t.test('whatever is asked of a run, it ends at most once and a pause changes nothing', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 500; round += 1) {
    let phase: RunPhase = { state: 'queued' };
    let beforePause: string | undefined;
    let ends = 0;
    for (let step = 0; step < 40; step += 1) {
      const event = random.pick(EVENTS);
      const change = changeRun(phase, event);
      if (!change.ok) continue;
      if (event.kind === 'pause') beforePause = phase.state;
      if (event.kind === 'resume' && change.phase.state !== beforePause) t.fail('resumed elsewhere');
      if (event.kind === 'cancel' || event.kind === 'finish') ends += 1;
      phase = change.phase;
    }
    if (ends > 1) t.fail('ended twice');
  }
  t.pass('500 lives');
});
