/** The tasks of a simulation: who waits, who waits for his time, who is done, and how long everybody waited. */
import type { Scenario } from './simulate.ts';

export interface SimulatedTask {
  readonly arrivedAt: number;
  readonly seconds: number;
  readonly isThrottled: boolean;
  /** When the site will answer it, once that is settled. */
  readonly turnAt?: number;
}

export interface SimulatedQueue {
  arrive(second: number): void;
  /** All that ever did. */
  arrived(): number;
  ready(): number;
  delayed(): number;
  /** Neither done nor with a worker. */
  left(): number;
  take(): SimulatedTask | undefined;
  /** Back at a later time. */
  defer(task: SimulatedTask, until: number): void;
  /** When the site that throttles has a turn free; asking takes it. */
  turn(at: number): number;
  started(task: SimulatedTask, at: number): void;
  ended(task: SimulatedTask, at: number): void;
  recent(second: number, within: number): { readonly done: number; readonly taskMs: number };
  report(): {
    readonly tasks: number;
    readonly done: number;
    readonly drainedAt: number;
    readonly waitMeanSeconds: number;
    readonly waitP95Seconds: number;
  };
}

const COMPACT_AT = 10_000;

export function createSimulatedQueue(scenario: Scenario, random: () => number): SimulatedQueue {
  const { spread = 0, throttled } = scenario;
  const later: { task: SimulatedTask; until: number }[] = [];
  const waits: number[] = [];
  const ends: { at: number; seconds: number }[] = [];
  let waiting: SimulatedTask[] = [];
  let head = 0;
  let parts = 0;
  let tasks = 0;
  let done = 0;
  let drainedAt = 0;
  let nextTurn = 0;
  let firstEnd = 0;

  return {
    arrive(second) {
      for (let place = later.length - 1; place >= 0; place -= 1) {
        const entry = later[place];
        if (!entry || entry.until > second) continue;
        later.splice(place, 1);
        waiting.push(entry.task);
      }
      if (second >= scenario.seconds) return;
      parts += scenario.arrivals(second);
      for (; parts >= 1; parts -= 1) {
        tasks += 1;
        waiting.push({
          arrivedAt: second,
          seconds: scenario.taskSeconds(second) * (1 + spread * (2 * random() - 1)),
          isThrottled: throttled !== undefined && random() < throttled.share,
        });
      }
    },
    arrived: () => tasks,
    ready: () => waiting.length - head,
    delayed: () => later.length,
    left: () => waiting.length - head + later.length,
    take() {
      const task = waiting[head];
      if (task) head += 1;
      if (head > COMPACT_AT) {
        waiting = waiting.slice(head);
        head = 0;
      }
      return task;
    },
    defer: (task, until) => void later.push({ task, until }),
    turn(at) {
      const turn = Math.max(at, nextTurn);
      nextTurn = turn + 1 / (throttled?.perSecond ?? 1);
      return turn;
    },
    started(task, at) {
      if (!task.isThrottled) waits.push(at - task.arrivedAt);
    },
    ended(task, at) {
      done += 1;
      drainedAt = Math.max(drainedAt, at);
      ends.push({ at, seconds: task.seconds });
    },
    recent(second, within) {
      // What is too old now is too old for ever.
      while ((ends[firstEnd]?.at ?? Infinity) <= second - within) firstEnd += 1;
      let total = 0;
      let count = 0;
      for (let place = firstEnd; place < ends.length; place += 1) {
        const end = ends[place];
        if (!end || end.at > second || end.at <= second - within) continue;
        total += end.seconds;
        count += 1;
      }
      return { done: count, taskMs: (total / Math.max(count, 1)) * 1_000 };
    },
    report() {
      const sorted = waits.sort((a, b) => a - b);
      const mean = sorted.reduce((sum, wait) => sum + wait, 0) / Math.max(sorted.length, 1);
      const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
      return { tasks, done, drainedAt, waitMeanSeconds: mean, waitP95Seconds: p95 };
    },
  };
}
