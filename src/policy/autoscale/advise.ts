/** What a person should do about the cluster, by its last measurements. Advice changes nothing. */
import { backlogOf, type Load } from './load.ts';

export interface AdviceLimits {
  /** Fewer measurements say nothing. */
  readonly samples: number;
  /** More tasks than this for each worker are a backlog. */
  readonly backlog: number;
  /** A backlog wants one worker for so many tasks. */
  readonly perWorker: number;
  /** Part of the attempts that may fail. */
  readonly errorRate: number;
  /** Fewer tasks a second than this, with more than `workersMin` workers, are too few. */
  readonly idleRate: number;
  /** Part of the workers that is kept then. */
  readonly keep: number;
  readonly workersMin: number;
}

export const ADVICE_DEFAULTS: AdviceLimits = {
  samples: 5,
  backlog: 10,
  perWorker: 8,
  errorRate: 0.1,
  idleRate: 0.1,
  keep: 0.7,
  workersMin: 2,
};

export interface AdviceState {
  readonly pending: number;
  readonly workers: number;
  readonly jobsPerSecond: number;
  readonly errorRate: number;
  /** Part of the busy slots that waits for egress. */
  readonly starved: number;
}

export type Advice =
  | { readonly action: 'scale_up'; readonly workers: number; readonly reason: string }
  | { readonly action: 'scale_down'; readonly workers: number; readonly reason: string }
  | { readonly action: 'investigate_errors'; readonly priority: 'high'; readonly reason: string }
  | { readonly action: 'feed_egress'; readonly priority: 'high'; readonly reason: string };

export type Advised =
  | { readonly kind: 'insufficient'; readonly samples: number; readonly needed: number }
  | { readonly kind: 'advised'; readonly state: AdviceState; readonly advice: readonly Advice[] };

const STARVED_MAX = 0.5;

/** Oldest first; the last few count. */
export function advise(loads: readonly Load[], limits: AdviceLimits): Advised {
  if (loads.length < limits.samples)
    return { kind: 'insufficient', samples: loads.length, needed: limits.samples };
  const state = meanOf(loads.slice(-limits.samples));
  return { kind: 'advised', state, advice: adviseOn(state, limits) };
}

function adviseOn(state: AdviceState, limits: AdviceLimits): Advice[] {
  const { pending, workers, jobsPerSecond, errorRate, starved } = state;
  const advice: Advice[] = [];
  const isStarved = starved > STARVED_MAX;
  if (isStarved)
    advice.push({
      action: 'feed_egress',
      priority: 'high',
      reason: `${percent(starved)} of the busy slots wait for egress: more proxies help, more workers do not`,
    });
  if (pending > workers * limits.backlog && !isStarved)
    advice.push({
      action: 'scale_up',
      workers: Math.max(1, Math.floor(pending / limits.perWorker)),
      reason: `high backlog: ${round(pending)} tasks for ${round(workers)} workers`,
    });
  if (errorRate > limits.errorRate)
    advice.push({
      action: 'investigate_errors',
      priority: 'high',
      reason: `high error rate: ${percent(errorRate)} of the attempts fail`,
    });
  if (jobsPerSecond < limits.idleRate && workers > limits.workersMin)
    advice.push({
      action: 'scale_down',
      workers: Math.max(limits.workersMin, Math.floor(workers * limits.keep)),
      reason: `low throughput with ${round(workers)} workers: ${jobsPerSecond.toFixed(2)} tasks a second`,
    });
  return advice;
}

function meanOf(loads: readonly Load[]): AdviceState {
  const mean = (of: (load: Load) => number): number =>
    loads.reduce((total, load) => total + of(load), 0) / loads.length;
  const done = mean(({ donePerSecond }) => donePerSecond);
  const failed = mean(({ failedPerSecond }) => failedPerSecond);
  const busy = mean((load) => load.busy);
  return {
    pending: mean(backlogOf),
    workers: mean(({ live }) => live),
    jobsPerSecond: done,
    errorRate: done + failed === 0 ? 0 : failed / (done + failed),
    starved: busy === 0 ? 0 : mean((load) => load.starved) / busy,
  };
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
