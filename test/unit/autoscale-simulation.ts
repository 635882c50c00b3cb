/**
 * Policies on a clock of their own: what each costs, and how long tasks wait for it. All scenarios run under one setting,
 * so that nobody is tuned to each of them.
 */
import t from 'tap';
import { SCALE_DEFAULTS } from '../../src/policy/autoscale/limits.ts';
import { replay, recordedWorkerSeconds } from '../../src/policy/autoscale/replay.ts';
import type { Scenario } from '../../src/policy/autoscale/simulate.ts';
import { quietLoad, runMix, runScenario, scenarios } from '../kit/autoscale-scenarios.ts';

const SEEDS = [1, 2];
const mine = runMix({}, SEEDS);

t.test('cheaper than jobs per worker, and nobody waits longer', async (t) => {
  const theirs = runMix({ policy: 'jobs_per_worker' }, SEEDS);
  t.comment({ mine, theirs });
  t.ok(mine.workerSeconds < 0.96 * theirs.workerSeconds, 'at least 4 % cheaper');
  t.ok(mine.waitMeanSeconds <= theirs.waitMeanSeconds, 'the mean wait');
  t.ok(mine.waitP95Seconds <= theirs.waitP95Seconds + 1, 'the longest waits');
});

t.test('cheaper than one worker for so many, where nobody waits longer', async (t) => {
  // One for each thousand is cheap, and lets everybody wait; so it is given the number with which they wait as long as with us.
  const asWritten = runMix({ policy: 'per_worker' }, SEEDS);
  t.ok(asWritten.waitMeanSeconds > 20 * mine.waitMeanSeconds, 'as it is written, everybody waits');
  const asPatient = runMix({ policy: 'per_worker', perWorker: 10 }, SEEDS);
  t.comment({ mine, asWritten, asPatient });
  t.ok(asPatient.waitMeanSeconds > 0.9 * mine.waitMeanSeconds, 'with one for ten they wait about as long');
  t.ok(asPatient.waitMeanSeconds < 1.2 * mine.waitMeanSeconds);
  t.ok(mine.workerSeconds < 0.8 * asPatient.workerSeconds, 'at least 20 % cheaper then');
});

t.test('every scenario ends with all tasks done, within the limits, and says why', async (t) => {
  for (const scenario of scenarios) {
    const { tasks, done, peak, decisions, oscillations } = runScenario(scenario);
    t.equal(done, tasks, `${scenario.name}: nothing lost`);
    t.ok(peak <= SCALE_DEFAULTS.max, `${scenario.name}: ${peak} at most`);
    t.ok(decisions.every(({ to }) => to >= SCALE_DEFAULTS.min));
    t.ok(oscillations <= scenario.seconds / 300, `${scenario.name}: turns ${oscillations} times`);
  }
});

t.test('a site that throttles gets no more workers than it feeds', async (t) => {
  const scenario = { ...named('a site that throttles'), throttled: { share: 1, perSecond: 2 } };
  const report = runScenario(scenario);
  t.equal(report.done, report.tasks);
  // All but the first decision, which knows of nothing yet.
  const later = report.decisions.filter(({ second }) => second > 200);
  t.ok(
    later.every(({ to }) => to <= 4),
    'two answers a second of two seconds each: four slots work',
  );
});

t.test('workers that die are replaced at once', async (t) => {
  const scenario = { ...named('step, short tasks'), deaths: (second: number) => (second === 200 ? 2 : 0) };
  const repair = runScenario(scenario).decisions.find(({ action }) => action === 'repair');
  t.match(repair, { second: 210, to: 2, reason: 'below-min' });
});

t.test('the same seed gives the same hour', async (t) => {
  const scenario = named('spikes');
  t.strictSame(runScenario(scenario, {}, 7), runScenario(scenario, {}, 7));
});

t.test('a recorded hour under another policy', async (t) => {
  // Two workers all along, and from the tenth minute on a list of 600 tasks.
  const records = Array.from({ length: 121 }, (_, place) => {
    const came = place >= 20 ? 600 : 0;
    const settled = place >= 20 ? Math.min(600, (place - 20) * 30) : 0;
    const load = {
      ...quietLoad,
      at: place * 30_000,
      accepted: came,
      settled,
      ready: came - settled,
      taskMs: 6_000,
    };
    return { load };
  });
  const options = { intervalSeconds: 30, startSeconds: 5 };
  const eager = replay(records, { ...options, limits: { ...SCALE_DEFAULTS, policy: 'jobs_per_worker' } });
  const lazy = replay(records, { ...options, limits: { ...SCALE_DEFAULTS, policy: 'per_worker' } });
  if (!eager || !lazy) throw new Error('nothing to go by');
  t.equal(recordedWorkerSeconds(records), 7_200);
  t.equal(eager.done, 600);
  t.equal(lazy.done, 600);
  t.ok(eager.peak > 15, 'ten for each of them');
  t.equal(lazy.peak, 2, 'two do for a thousand');
  t.ok(eager.waitMeanSeconds < lazy.waitMeanSeconds / 3);
  t.equal(
    replay(records.slice(0, 1), { ...options, limits: SCALE_DEFAULTS }),
    undefined,
    'one moment is no hour',
  );
});

function named(name: string): Scenario {
  const scenario = scenarios.find((each) => each.name === name);
  if (!scenario) throw new Error(`no scenario ${name}`);
  return scenario;
}
