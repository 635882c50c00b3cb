/** The workers of a simulation, each with its slots. */
import type { Scenario } from './simulate.ts';
import type { SimulatedQueue, SimulatedTask } from './simulated-queue.ts';

export interface SimulatedFleet {
  tick(second: number, queue: SimulatedQueue): void;
  add(count: number, second: number): void;
  /** The least busy take nothing more, and go when they are done. */
  drain(count: number, second: number): void;
  /** Everybody who costs something: also who starts and who drains. */
  size(): number;
  /** Those that were ordered and not sent away again. */
  ordered(): number;
  live(second: number): number;
  running(second: number): number;
  starved(second: number): number;
  peak(): number;
}

interface Slot {
  freeAt: number;
  /** Until then the task in it waits for the site's leave. */
  waitsUntil: number;
  task: SimulatedTask | undefined;
}

interface Worker {
  readonly readyAt: number;
  readonly slots: readonly Slot[];
  isDraining: boolean;
}

/** What would wait longer than this for a site gives its slot back and comes again when it is its turn. */
const WAIT_MAX_SECONDS = 2;
/** After so long, others get what a dead worker had in hand. */
const LEASE_SECONDS = 60;

export function createSimulatedFleet(scenario: Scenario): SimulatedFleet {
  let workers: Worker[] = Array.from({ length: scenario.workers }, () => hire(0));
  let peak = workers.length;
  let starvedNow = 0;

  return {
    tick(second, queue) {
      settle(second, queue);
      bury(scenario.deaths?.(second) ?? 0, second, queue);
      workers = workers.filter((worker) => !worker.isDraining || busyOf(worker, second) > 0);
      feed(second, queue);
    },
    add(count, second) {
      workers.push(...Array.from({ length: count }, () => hire(second + scenario.startSeconds)));
      peak = Math.max(peak, workers.length);
    },
    drain(count, second) {
      const able = workers.filter(({ isDraining }) => !isDraining);
      able.sort((a, b) => busyOf(a, second) - busyOf(b, second) || b.readyAt - a.readyAt);
      for (const worker of able.slice(0, count)) worker.isDraining = true;
    },
    size: () => workers.length,
    ordered: () => workers.filter(({ isDraining }) => !isDraining).length,
    live: (second) => workers.filter((worker) => !worker.isDraining && worker.readyAt <= second).length,
    running: (second) => starvedNow + workers.reduce((sum, worker) => sum + busyOf(worker, second), 0),
    starved: (second) =>
      starvedNow +
      workers.flatMap(({ slots }) => slots).filter(({ waitsUntil }) => waitsUntil > second).length,
    peak: () => peak,
  };

  function hire(readyAt: number): Worker {
    const slots = Array.from({ length: scenario.slots }, () => ({
      freeAt: readyAt,
      waitsUntil: 0,
      task: undefined,
    }));
    return { readyAt, slots, isDraining: false };
  }

  function settle(second: number, queue: SimulatedQueue): void {
    for (const { slots } of workers) {
      for (const slot of slots) {
        if (!slot.task || slot.freeAt > second) continue;
        queue.ended(slot.task, slot.freeAt);
        slot.task = undefined;
      }
    }
  }

  function bury(count: number, second: number, queue: SimulatedQueue): void {
    for (const dead of workers.splice(0, count)) {
      for (const { task } of dead.slots) if (task) queue.defer(task, second + LEASE_SECONDS);
    }
  }

  /** Until the end of this second: whoever is free first takes the next task, several short ones after each other. */
  function feed(second: number, queue: SimulatedQueue): void {
    const able = workers.filter((worker) => !worker.isDraining && worker.readyAt <= second);
    const all = able.flatMap(({ slots }) => slots);
    const fed = scenario.fed?.(second) ?? Infinity;
    const slots = all.slice(0, fed);
    starvedNow = Math.min(all.length - slots.length, queue.ready());
    while (queue.ready() > 0) {
      const slot = firstFree(slots);
      if (!slot || slot.freeAt >= second + 1) return;
      const task = queue.take();
      if (task) begin(slot, task, second, queue);
    }
  }

  function begin(slot: Slot, task: SimulatedTask, second: number, queue: SimulatedQueue): void {
    if (slot.task) queue.ended(slot.task, slot.freeAt);
    slot.task = undefined;
    const at = Math.max(slot.freeAt, second);
    const turnAt = task.isThrottled ? (task.turnAt ?? queue.turn(at)) : at;
    if (turnAt - at > WAIT_MAX_SECONDS) {
      queue.defer({ ...task, turnAt }, turnAt);
      return;
    }
    const from = Math.max(at, turnAt);
    queue.started(task, from);
    slot.waitsUntil = from > at ? from : 0;
    slot.freeAt = from + task.seconds;
    slot.task = task;
  }
}

function firstFree(slots: readonly Slot[]): Slot | undefined {
  let [first] = slots;
  for (const slot of slots) if (first && slot.freeAt < first.freeAt) first = slot;
  return first;
}

function busyOf({ slots }: Worker, second: number): number {
  return slots.filter(({ task, freeAt }) => task !== undefined && freeAt > second).length;
}
