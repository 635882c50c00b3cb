/** What a cluster may have to go through: the same for every policy, by a seed. */
import { POLICY_NAMES, SCALE_DEFAULTS, type ScaleLimits } from '../../src/policy/autoscale/limits.ts';
import type { Load } from '../../src/policy/autoscale/load.ts';
import { simulate, type Scenario, type SimulationReport } from '../../src/policy/autoscale/simulate.ts';
import { createRandom } from './random.ts';

const HOUR = 3_600;
const usual = { seconds: HOUR, workers: 2, slots: 3, startSeconds: 5, spread: 0.5 } as const;
const nothing = (): number => 0;

export const scenarios: readonly Scenario[] = [
  {
    ...usual,
    name: 'step, short tasks',
    arrivals: (second) => (second === 60 ? 3_000 : 0),
    taskSeconds: () => 0.5,
  },
  {
    ...usual,
    name: 'step, long tasks',
    arrivals: (second) => (second === 60 ? 400 : 0),
    taskSeconds: () => 30,
  },
  {
    ...usual,
    name: 'ramp',
    arrivals: (second) => (second < 1_800 ? (10 * second) / 1_800 : nothing()),
    taskSeconds: () => 2,
  },
  {
    ...usual,
    name: 'spikes',
    arrivals: (second) => (second % 900 === 100 ? 2_000 : 0.5),
    taskSeconds: () => 1,
  },
  {
    ...usual,
    name: 'a day in four hours',
    seconds: 4 * HOUR,
    arrivals: (second) => 4 * (1 - Math.cos((2 * Math.PI * second) / (4 * HOUR))),
    taskSeconds: () => 3,
  },
  {
    ...usual,
    name: 'a site that throttles',
    arrivals: (second) => (second === 60 ? 3_000 : 0.2),
    taskSeconds: () => 2,
    throttled: { share: 0.8, perSecond: 2 },
  },
  {
    ...usual,
    name: 'workers die',
    arrivals: (second) => (second < 2_400 ? 4 : 0),
    taskSeconds: () => 3,
    deaths: (second) => (second % 400 === 399 ? 2 : 0),
  },
];

export function runScenario(
  scenario: Scenario,
  changes: Partial<ScaleLimits> = {},
  seed = 1,
): SimulationReport {
  const random = createRandom(seed);
  return simulate(scenario, {
    limits: { ...SCALE_DEFAULTS, ...changes },
    intervalSeconds: 30,
    random: () => random.next(),
  });
}

export interface MixReport {
  readonly workerSeconds: number;
  /** Over all tasks that nobody throttled. */
  readonly waitMeanSeconds: number;
  /** The worst of the scenarios. */
  readonly waitP95Seconds: number;
  readonly oscillations: number;
}

/** All scenarios under one setting: no policy may be tuned to each of them. */
export function runMix(changes: Partial<ScaleLimits>, seeds: readonly number[]): MixReport {
  const reports = seeds.flatMap((seed) => scenarios.map((scenario) => runScenario(scenario, changes, seed)));
  const total = (of: (report: SimulationReport) => number): number =>
    reports.reduce((sum, report) => sum + of(report), 0);
  return {
    workerSeconds: total((report) => report.workerSeconds) / seeds.length,
    waitMeanSeconds:
      total((report) => report.waitMeanSeconds * report.tasks) / total((report) => report.tasks),
    waitP95Seconds: Math.max(...reports.map((report) => report.waitP95Seconds)),
    oscillations: total((report) => report.oscillations) / seeds.length,
  };
}

export const seedPolicies = POLICY_NAMES.filter((name) => name !== 'drain_time');

/** A load without anything, for tests to change. */
export const quietLoad: Load = {
  at: 0,
  ready: 0,
  running: 0,
  delayed: 0,
  starved: 0,
  queuedRuns: 0,
  live: 2,
  draining: 0,
  slots: 3,
  busy: 0,
  taskMs: 1_000,
  donePerSecond: 0,
  failedPerSecond: 0,
};
