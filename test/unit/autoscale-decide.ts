/** Decisions of the autoscaler: a table with every boundary, and what holds for any input. */
import t from 'tap';
import { decide, type ScaleDecision, type ScaleFacts } from '../../src/policy/autoscale/decide.ts';
import { explainDecision } from '../../src/policy/autoscale/explain.ts';
import { POLICY_NAMES, SCALE_DEFAULTS, type ScaleLimits } from '../../src/policy/autoscale/limits.ts';
import { backlogOf, type Load } from '../../src/policy/autoscale/load.ts';
import { quietLoad } from '../kit/autoscale-scenarios.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const NOW = 10_000_000;
const byJobs: Partial<ScaleLimits> = { policy: 'jobs_per_worker' };

interface Case {
  readonly load?: Partial<Load>;
  readonly facts?: Partial<ScaleFacts>;
  readonly limits?: Partial<ScaleLimits>;
}

function answer({ load = {}, facts = {}, limits = {} }: Case): ScaleDecision {
  const full = { ...quietLoad, at: NOW, ...load };
  return decide({ now: NOW, load: full, ...facts }, { ...SCALE_DEFAULTS, ...limits });
}

function said({ action, from, to, reason }: ScaleDecision): string {
  return `${action} ${from}→${to} ${reason}`;
}

const table: readonly (readonly [words: string, given: Case, expected: string])[] = [
  // Metrics.
  ['no metrics', { facts: { load: undefined, desired: 5 } }, 'hold 5→5 no-metrics'],
  ['no metrics, the driver counts', { facts: { load: undefined, ordered: 4 } }, 'hold 4→4 no-metrics'],
  ['nothing known at all', { facts: { load: undefined } }, 'hold 0→0 no-metrics'],
  ['as old as may be', { load: { at: NOW - 90_000, live: 1 } }, 'repair 1→2 below-min'],
  ['a moment older', { load: { at: NOW - 90_001, live: 1 } }, 'hold 1→1 stale-metrics'],
  ['from a clock that is ahead', { load: { at: NOW + 5_000 } }, 'hold 2→2 steady'],
  // The floor and the ceiling.
  ['nobody alive', { load: { live: 0, slots: undefined } }, 'repair 0→2 below-min'],
  ['repair does not rest', { load: { live: 1 }, facts: { lastDownAt: NOW } }, 'repair 1→2 below-min'],
  ['more than allowed', { load: { live: 21, busy: 63 } }, 'down 21→20 above-max'],
  [
    'that does not rest',
    { load: { live: 9 }, facts: { ordered: 22, lastUpAt: NOW } },
    'down 22→20 above-max',
  ],
  ['never past the ceiling', { load: { ready: 1e6, busy: 6 } }, 'up 2→20 backlog'],
  // Zero.
  ['idle, and none is enough', { limits: { min: 0 } }, 'down 2→0 idle'],
  ['none, nothing to do', { load: { live: 0 }, limits: { min: 0 } }, 'hold 0→0 steady'],
  [
    'none, work',
    { load: { live: 0, ready: 1 }, limits: { min: 0 }, facts: { lastUpAt: NOW } },
    'up 0→1 from-zero',
  ],
  ['none, a run waits', { load: { live: 0, queuedRuns: 1 }, limits: { min: 0 } }, 'up 0→1 from-zero'],
  [
    'none, work that waits for its time',
    { load: { live: 0, delayed: 99 }, limits: { min: 0 } },
    'hold 0→0 steady',
  ],
  // Time to drain: 2 workers × 3 slots × 30 s = 180 tasks of a second.
  ['just drained in time', { load: { ready: 174, running: 6, busy: 6 } }, 'hold 2→2 steady'],
  ['one task more', { load: { ready: 175, running: 6, busy: 6 } }, 'up 2→3 backlog'],
  ['twice the length', { load: { ready: 174, running: 6, busy: 6, taskMs: 2_000 } }, 'up 2→4 backlog'],
  [
    'tasks longer than the target',
    { load: { ready: 6, running: 6, busy: 6, taskMs: 600_000 } },
    'up 2→4 backlog',
  ],
  ['what keeps coming in', { load: { inflowPerSecond: 10, busy: 6, running: 6 } }, 'up 2→3 backlog'],
  ['busy workers stay', { load: { live: 8, busy: 24, running: 24 } }, 'hold 8→8 steady'],
  ['idle ones go', { load: { live: 8, busy: 7, running: 7 } }, 'down 8→3 in-use'],
  ['of unknown length, slots free', { load: { ready: 99, taskMs: undefined, busy: 5 } }, 'hold 2→2 steady'],
  [
    'of unknown length, all busy',
    { load: { ready: 99, running: 6, taskMs: undefined, busy: 6 } },
    'up 2→11 unknown-duration',
  ],
  [
    'fewer tasks than slots',
    { load: { ready: 3, running: 6, taskMs: undefined, busy: 6 }, limits: { jobsUp: 1 } },
    'up 2→3 unknown-duration',
  ],
  // Not load: what waits for its time, and what waits for egress.
  ['a million deferred', { load: { delayed: 1e6 } }, 'hold 2→2 steady'],
  [
    'all wait for egress',
    { load: { live: 6, ready: 5_000, running: 18, busy: 18, starved: 18 } },
    'down 6→2 limited',
  ],
  ['half waits: no more', { load: { ready: 5_000, running: 6, busy: 6, starved: 3 } }, 'hold 2→2 limited'],
  [
    'a third waits: a little more',
    { load: { ready: 5_000, running: 6, busy: 6, starved: 2 } },
    'up 2→3 backlog',
  ],
  // The machine.
  ['no room', { load: { ready: 500, busy: 6 }, facts: { guard: { factors: ['cpu'] } } }, 'hold 2→2 limited'],
  [
    'pressed, and too many',
    { load: { live: 9 }, facts: { guard: { factors: ['memory'] } } },
    'down 9→2 idle',
  ],
  [
    'repair under pressure',
    { load: { live: 1 }, facts: { guard: { factors: ['load'] } } },
    'repair 1→2 below-min',
  ],
  [
    'room for four',
    { load: { ready: 5_000, busy: 6 }, facts: { guard: { factors: [], fits: 4 } } },
    'up 2→4 backlog',
  ],
  [
    'room for fewer',
    { load: { live: 6, ready: 5_000, busy: 18 }, facts: { guard: { factors: [], fits: 4 } } },
    'hold 6→6 limited',
  ],
  [
    'two may run here',
    {
      load: { live: 1, ready: 5_000, busy: 6 },
      facts: { guard: { factors: [], most: 2 } },
      limits: { min: 5 },
    },
    'repair 1→2 below-min',
  ],
  [
    'two run here, and somebody said that five are the least',
    { load: { ready: 5_000, busy: 6 }, facts: { guard: { factors: [], most: 2 } }, limits: { min: 5 } },
    'hold 2→2 limited',
  ],
  [
    'two more may run here',
    { load: { ready: 5_000, busy: 6 }, facts: { guard: { factors: [], most: 4 } } },
    'up 2→4 backlog',
  ],
  // Cooldowns, each with its own time.
  ['up rests', { load: { ready: 500, busy: 6 }, facts: { lastUpAt: NOW - 59_999 } }, 'hold 2→2 cooldown'],
  ['up has rested', { load: { ready: 500, busy: 6 }, facts: { lastUpAt: NOW - 60_000 } }, 'up 2→6 backlog'],
  [
    'up right after down',
    { load: { ready: 500, busy: 6 }, facts: { lastDownAt: NOW - 1 } },
    'up 2→6 backlog',
  ],
  ['down rests', { load: { live: 9 }, facts: { lastDownAt: NOW - 299_999 } }, 'hold 9→9 cooldown'],
  ['down has rested', { load: { live: 9 }, facts: { lastDownAt: NOW - 300_000 } }, 'down 9→2 idle'],
  ['down too soon after up', { load: { live: 9 }, facts: { lastUpAt: NOW - 59_999 } }, 'hold 9→9 cooldown'],
  ['down after up', { load: { live: 9 }, facts: { lastUpAt: NOW - 60_000 } }, 'down 9→2 idle'],
  // Jobs per worker: more than 10, fewer than 2.
  ['ten each', { load: { ready: 40, live: 4 }, limits: byJobs }, 'hold 4→4 steady'],
  ['more than ten each', { load: { ready: 41, live: 4 }, limits: byJobs }, 'up 4→5 backlog'],
  ['running counts', { load: { ready: 35, running: 6, live: 4 }, limits: byJobs }, 'up 4→5 backlog'],
  ['two each', { load: { ready: 8, live: 4 }, limits: byJobs }, 'hold 4→4 steady'],
  ['fewer than two each', { load: { ready: 5, live: 4 }, limits: byJobs }, 'down 4→3 idle'],
  ['the formula gives the same', { load: { ready: 7, live: 4 }, limits: byJobs }, 'hold 4→4 steady'],
  ['nothing to do', { load: { live: 4 }, limits: byJobs }, 'down 4→2 idle'],
  // One for each thousand.
  [
    'a thousand each',
    { load: { ready: 3_000, live: 3 }, limits: { policy: 'per_worker' } },
    'hold 3→3 steady',
  ],
  ['one more', { load: { ready: 3_001, live: 3 }, limits: { policy: 'per_worker' } }, 'up 3→4 backlog'],
  ['950 of them', { load: { ready: 950_000, live: 3 }, limits: { policy: 'per_worker' } }, 'up 3→20 backlog'],
  // Who counts: the driver, an order under way, those that live.
  ['ordered, not there yet', { load: { ready: 700 }, facts: { ordered: 8 } }, 'hold 8→8 steady'],
  [
    'an order under way',
    { load: { ready: 700 }, facts: { desired: 8, lastUpAt: NOW - 59_999 } },
    'hold 8→8 steady',
  ],
  [
    'an order that nobody obeyed',
    { load: { ready: 700 }, facts: { desired: 8, lastUpAt: NOW - 60_000 } },
    'up 2→8 backlog',
  ],
  [
    'fewer were ordered',
    { load: { live: 8 }, facts: { desired: 3, lastDownAt: NOW - 1 } },
    'hold 3→3 cooldown',
  ],
];

t.test('the table', async (t) => {
  for (const [words, given, expected] of table) t.equal(said(answer(given)), expected, words);
});

t.test('an answer names what limits it', async (t) => {
  const guard = { factors: ['cpu', 'load'] };
  const load = { ready: 5_000, busy: 6 };
  t.strictSame(answer({ load, facts: { guard } }).limitedBy, ['cpu', 'load']);
  t.strictSame(answer({ load }).limitedBy, ['max']);
  t.strictSame(answer({ load: { ...load, starved: 4 } }).limitedBy, ['egress']);
  const fits = { factors: [], fits: 4, fitsBy: 'cores' };
  t.strictSame(answer({ load, facts: { guard: fits } }).limitedBy, ['cores']);
  const most = answer({ load, facts: { guard: { factors: [], most: 4 } } });
  t.strictSame(most.limitedBy, ['machine']);
  t.match(explainDecision(most), /no more than 4, as many as may run on this machine/);
  t.strictSame(answer({}).limitedBy, []);
});

t.test('for any input', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`SEED=${random.seed}`);
  for (let round = 0; round < 20_000; round += 1) {
    const min = random.int(0, 5);
    const limits: ScaleLimits = {
      ...SCALE_DEFAULTS,
      policy: random.pick(POLICY_NAMES),
      min,
      max: min + random.int(1, 30),
    };
    const busy = random.int(0, 90);
    const load: Load = {
      ...quietLoad,
      at: NOW - random.int(0, 120_000),
      ready: random.pick([0, 1, 7, 100, 5_000, 1_000_000]),
      running: random.int(0, 90),
      delayed: random.int(0, 10_000),
      starved: random.chance(0.5) ? 0 : random.int(0, busy),
      queuedRuns: random.int(0, 2),
      live: random.int(0, 30),
      busy,
      taskMs: random.chance(0.1) ? undefined : random.pick([1, 500, 30_000, 3_600_000]),
      inflowPerSecond: random.chance(0.5) ? undefined : random.int(0, 100),
    };
    const facts: ScaleFacts = {
      now: NOW,
      load: random.chance(0.05) ? undefined : load,
      ordered: random.chance(0.5) ? undefined : random.int(0, 40),
      desired: random.chance(0.5) ? undefined : random.int(0, 40),
      lastUpAt: random.chance(0.5) ? undefined : NOW - random.int(0, 120_000),
      lastDownAt: random.chance(0.5) ? undefined : NOW - random.int(0, 600_000),
      guard: random.chance(0.7)
        ? undefined
        : {
            factors: random.chance(0.5) ? ['cpu'] : [],
            fits: random.int(0, 9),
            most: random.chance(0.5) ? undefined : random.int(1, 9),
          },
    };
    const decision = decide(facts, limits);
    const problem = problemOf(facts, limits, decision);
    if (problem !== undefined) {
      t.fail(problem, { facts, limits, decision });
      return;
    }
  }
  t.pass('20000 decisions');
});

function problemOf(facts: ScaleFacts, limits: ScaleLimits, decision: ScaleDecision): string | undefined {
  const { from, to, action } = decision;
  const most = facts.guard?.most ?? Infinity;
  const blind = !facts.load || NOW - facts.load.at > limits.staleAfterMs;
  if (!Number.isInteger(to) || to < 0) return `${to} is no number of workers`;
  if (blind && action !== 'hold') return 'acts without knowing';
  if (action === 'hold' && to !== from) return 'a hold moves';
  if (action === 'up' && to <= from) return 'up goes down';
  if (action === 'down' && to >= from) return 'down goes up';
  if (action !== 'hold' && (to < Math.min(limits.min, most) || to > limits.max)) return 'leaves its limits';
  if (!blind && from < Math.min(limits.min, most) && action !== 'repair') return 'does not repair';
  if (to > Math.max(from, most)) return 'grows past what may run';
  const upRests = NOW - (facts.lastUpAt ?? -Infinity) < limits.cooldownUpMs;
  if (action === 'up' && from > 0 && upRests) return 'up does not rest';
  const downRests = NOW - (facts.lastDownAt ?? -Infinity) < limits.cooldownDownMs;
  if (action === 'down' && from <= limits.max && (upRests || downRests)) return 'down does not rest';
  if (action === 'up' && facts.guard && facts.guard.factors.length > 0) return 'grows under pressure';
  if (action === 'up' && facts.guard?.fits !== undefined && to > Math.max(from, facts.guard.fits))
    return 'grows past what fits';
  if (facts.load && to === 0 && action === 'down' && facts.load.ready > 0 && facts.load.starved === 0)
    return 'to zero with work';
  // More to do never means fewer workers.
  if (facts.load && !blind) {
    const more = decide({ ...facts, load: { ...facts.load, ready: facts.load.ready + 1_000 } }, limits);
    if (more.to < to && backlogOf(facts.load) >= 0) return `1000 more tasks: ${more.to} instead of ${to}`;
  }
  if (explainDecision(decision) === '') return 'not explained';
  return undefined;
}
