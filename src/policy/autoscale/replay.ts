/**
 * What another policy would have done with a recorded stretch of time: what came in, how long a task took and what
 * egress gave are as recorded; the cluster that answers is simulated. The recorded policy goes through the same
 * simulation, so that the two are compared like with like.
 */
import type { Guard } from './caps.ts';
import type { ScaleLimits } from './limits.ts';
import { arrivedBetween, backlogOf, type Load } from './load.ts';
import { simulate, type Scenario, type SimulationReport } from './simulate.ts';

export interface Recorded {
  readonly load: Load;
  readonly guard?: Guard | undefined;
}

export interface ReplayOptions {
  readonly limits: ScaleLimits;
  readonly intervalSeconds: number;
  readonly startSeconds: number;
}

/** Undefined where there is too little to go by. */
export function replay(records: readonly Recorded[], options: ReplayOptions): SimulationReport | undefined {
  const scenario = scenarioOf(records, options);
  if (!scenario) return undefined;
  const { limits, intervalSeconds } = options;
  return simulate(scenario, { limits, intervalSeconds, random: () => 0.5 });
}

/** Workers that there were, times how long, as recorded. */
export function recordedWorkerSeconds(records: readonly Recorded[]): number {
  return pairs(records).reduce(
    (total, [before, after]) =>
      total + ((after.load.at - before.load.at) / 1_000) * (before.load.live + before.load.draining),
    0,
  );
}

function scenarioOf(records: readonly Recorded[], options: ReplayOptions): Scenario | undefined {
  const [first] = records;
  const last = records.at(-1);
  if (!first || !last || last.load.at - first.load.at < 1_000) return undefined;
  const origin = first.load.at;
  const seconds = Math.ceil((last.load.at - origin) / 1_000);
  const arrivals = new Float64Array(seconds);
  arrivals[0] = backlogOf(first.load);
  for (const [before, after] of pairs(records)) {
    const from = Math.floor((before.load.at - origin) / 1_000);
    const to = Math.max(from + 1, Math.floor((after.load.at - origin) / 1_000));
    for (let second = from; second < to; second += 1)
      arrivals[second] = (arrivals[second] ?? 0) + arrivedBetween(before.load, after.load) / (to - from);
  }
  const at = (second: number): Recorded =>
    records.findLast(({ load }) => load.at <= origin + second * 1_000) ?? first;
  const taskMs = (second: number): number =>
    at(second).load.taskMs ?? records.find(({ load }) => load.taskMs !== undefined)?.load.taskMs ?? 1_000;
  return {
    name: 'recorded',
    seconds,
    workers: first.load.live,
    slots: Math.max(1, Math.round(first.load.slots ?? options.limits.slots)),
    startSeconds: options.startSeconds,
    arrivals: (second) => arrivals[second] ?? 0,
    taskSeconds: (second) => taskMs(second) / 1_000,
    fed(second) {
      const { starved, busy } = at(second).load;
      return starved > 0 ? Math.max(1, busy - starved) : Infinity;
    },
    guard: (second) => at(second).guard,
  };
}

function pairs(records: readonly Recorded[]): (readonly [Recorded, Recorded])[] {
  return records.slice(1).flatMap((after, place) => {
    const before = records[place];
    return before ? [[before, after] as const] : [];
  });
}
