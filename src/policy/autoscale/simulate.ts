/**
 * A cluster that exists only in numbers, on a clock of its own, to try a policy on: tasks arrive, workers take some time
 * to start, run so many at once, are drained and die; a site may throttle what it is asked. A queue first come, first
 * served; slots that become free take the next task. Same inputs and same `random`: same outcome.
 */
import { noteChange, type LastChanges } from './cooldown.ts';
import { decide, type ScaleDecision } from './decide.ts';
import type { Guard } from './caps.ts';
import type { ScaleLimits } from './limits.ts';
import { withInflow, type Load } from './load.ts';
import { createSimulatedFleet } from './simulated-fleet.ts';
import { createSimulatedQueue } from './simulated-queue.ts';

export interface Scenario {
  readonly name: string;
  /** How long it is watched at least; with tasks left it goes on. */
  readonly seconds: number;
  readonly workers: number;
  readonly slots: number;
  /** From the order of a worker to its first task. */
  readonly startSeconds: number;
  /** Tasks that arrive within this second; parts of a task add up. */
  readonly arrivals: (second: number) => number;
  /** Mean length of the tasks that arrive then. */
  readonly taskSeconds: (second: number) => number;
  /** How far a length may lie from the mean, as a part of it. */
  readonly spread?: number;
  /** A part of the tasks is for one site, which answers so many each second. */
  readonly throttled?: { readonly share: number; readonly perSecond: number };
  /** Workers that die in this second. */
  readonly deaths?: (second: number) => number;
  /** Slots that egress feeds then, of all together. */
  readonly fed?: (second: number) => number;
  readonly guard?: (second: number) => Guard | undefined;
}

export interface SimulationReport {
  readonly tasks: number;
  readonly done: number;
  readonly drainedAt: number; // second of the last outcome
  readonly workerSeconds: number;
  /** Of the tasks that nobody throttled, from arrival to start. */
  readonly waitMeanSeconds: number;
  readonly waitP95Seconds: number;
  readonly peak: number;
  readonly changes: number;
  /** How often the direction changed. */
  readonly oscillations: number;
  readonly decisions: readonly (ScaleDecision & { readonly second: number })[];
}

export interface SimulationOptions {
  readonly limits: ScaleLimits;
  readonly intervalSeconds: number;
  readonly random: () => number;
}

const LONGEST = 6; // times the scenario's own length: a policy that never drains ends somewhere
const RECENT_SECONDS = 60;

export function simulate(scenario: Scenario, options: SimulationOptions): SimulationReport {
  const { limits, intervalSeconds, random } = options;
  const queue = createSimulatedQueue(scenario, random);
  const fleet = createSimulatedFleet(scenario);
  const decisions: (ScaleDecision & { second: number })[] = [];
  let last: LastChanges = {};
  const loads: Load[] = [];
  let workerSeconds = 0;
  let second = 0;

  for (; second < scenario.seconds * LONGEST; second += 1) {
    queue.arrive(second);
    fleet.tick(second, queue);
    if (second >= scenario.seconds && queue.left() === 0 && fleet.running(second) === 0) break;
    workerSeconds += fleet.size();
    if (second % intervalSeconds === 0) act(second);
  }
  return { ...queue.report(), workerSeconds, peak: fleet.peak(), decisions, ...countTurns(decisions) };

  function act(now: number): void {
    const guard = scenario.guard?.(now);
    const load = withInflow(loadAt(now), loads);
    loads.push(load);
    const facts = { now: now * 1_000, load, ordered: fleet.ordered(), guard, ...last };
    const decision = decide(facts, limits);
    decisions.push({ ...decision, second: now });
    if (decision.to > decision.from) fleet.add(decision.to - decision.from, now);
    if (decision.to < decision.from) fleet.drain(decision.from - decision.to, now);
    last = noteChange(last, decision, now * 1_000);
  }

  function loadAt(now: number): Load {
    const recent = queue.recent(now, RECENT_SECONDS);
    const live = fleet.live(now);
    return {
      at: now * 1_000,
      ready: queue.ready(),
      running: fleet.running(now),
      delayed: queue.delayed(),
      starved: fleet.starved(now),
      queuedRuns: 0,
      live,
      draining: fleet.size() - fleet.ordered(),
      ...(live > 0 && { slots: scenario.slots }),
      busy: fleet.running(now),
      ...(recent.done > 0 && { taskMs: recent.taskMs }),
      donePerSecond: recent.done / RECENT_SECONDS,
      failedPerSecond: 0,
      accepted: queue.arrived(),
    };
  }
}

function countTurns(decisions: readonly ScaleDecision[]): { changes: number; oscillations: number } {
  const ways = decisions.filter(({ from, to }) => from !== to).map(({ from, to }) => Math.sign(to - from));
  return {
    changes: ways.length,
    oscillations: ways.filter((way, place) => place > 0 && way !== ways[place - 1]).length,
  };
}
