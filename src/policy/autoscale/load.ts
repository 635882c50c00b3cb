/**
 * What of a snapshot matters to the size of the cluster, as flat numbers: a decision is made by these alone, and they
 * are stored with it, so that it can be explained, and made again under other limits, at any time.
 */
import type { Snapshot, WorkerSnapshot } from '../../domain/snapshot.ts';

export interface Load {
  readonly at: number; // epoch ms
  /** In the queue, for anybody to take. */
  readonly ready: number;
  /** Delivered to a worker and not settled. */
  readonly running: number;
  /** Wait for their time (a retry, a throttled host, no free egress): no load. */
  readonly delayed: number;
  /** Attempts that wait for egress: they hold a slot and work for nobody. */
  readonly starved: number;
  readonly queuedRuns: number;
  /** Workers that are there, starting or running; who drains is as good as gone. */
  readonly live: number;
  readonly draining: number;
  /** Tasks that one worker runs at once: the mean of what they allow themselves. Absent without workers. */
  readonly slots?: number | undefined;
  /** Slots with an attempt in them. */
  readonly busy: number;
  /** Mean time of one attempt; absent when none has ended lately. */
  readonly taskMs?: number | undefined;
  /** Attempts that ended well, each second, of late. */
  readonly donePerSecond: number;
  readonly failedPerSecond: number;
  /** Since the cluster was made: what came in, and what has its outcome. Absent where the source does not tell. */
  readonly accepted?: number | undefined;
  readonly settled?: number | undefined;
  /** What keeps coming in, each second; absent until it was watched for a while. */
  readonly inflowPerSecond?: number | undefined;
}

export function readLoad(snapshot: Snapshot): Load {
  const { queue, runs, recent, totals } = snapshot;
  const there = snapshot.workers.filter(isThere);
  const seconds = Math.max(recent.seconds, 1);
  return {
    at: snapshot.at,
    ready: queue.ready,
    running: queue.running,
    delayed: queue.delayed,
    starved: sum(there, ({ starved, busy }) => Math.min(starved, busy)),
    queuedRuns: runs.queued,
    live: there.length,
    draining: snapshot.workers.filter(({ status }) => status === 'draining').length,
    ...(there.length > 0 && { slots: meanSlots(there) }),
    // What is delivered is in a slot as soon as there is one, also where a worker is too busy to say so.
    busy: Math.max(
      sum(there, ({ busy }) => busy),
      Math.min(
        queue.running,
        sum(there, ({ slotsNow }) => slotsNow),
      ),
    ),
    ...(recent.taskMs !== undefined && { taskMs: recent.taskMs }),
    donePerSecond: recent.done / seconds,
    failedPerSecond: recent.failed / seconds,
    accepted: totals.accepted + totals.redriven,
    settled: totals.done + totals.dead + totals.cancelled,
  };
}

/** Where somebody else counts the tasks: all of them count as ready, apart from those that workers have in hand. */
export function loadByNumbers(numbers: {
  readonly at: number;
  readonly tasks: number;
  readonly taskMs: number | undefined;
  readonly workers: readonly WorkerSnapshot[];
}): Load {
  const there = numbers.workers.filter(isThere);
  const busy = sum(there, (worker) => worker.busy);
  const tasks = Math.max(0, Math.round(numbers.tasks));
  return {
    at: numbers.at,
    ready: Math.max(0, tasks - busy),
    running: Math.min(tasks, busy),
    delayed: 0,
    starved: sum(there, (worker) => Math.min(worker.starved, worker.busy)),
    queuedRuns: 0,
    live: there.length,
    draining: numbers.workers.filter(({ status }) => status === 'draining').length,
    ...(there.length > 0 && { slots: meanSlots(there) }),
    busy,
    ...(numbers.taskMs !== undefined && { taskMs: numbers.taskMs }),
    donePerSecond: 0,
    failedPerSecond: 0,
  };
}

/**
 * The tasks that more workers could do something about. What waits for its time is not among them, nor an attempt that
 * waits for egress; a run that waits for its turn is one task at least.
 */
export function backlogOf({ ready, running, starved, queuedRuns }: Load): number {
  return ready + Math.max(0, running - starved) + queuedRuns;
}

const INFLOW_SAMPLES = 5;

/**
 * The load with what keeps coming in, by the measurements before it (oldest first). The median of the intervals: a list
 * that somebody submits at once is a backlog, and not the beginning of a stream.
 */
export function withInflow(load: Load, earlier: readonly Load[]): Load {
  const series = [...earlier.slice(-INFLOW_SAMPLES), load];
  const rates = series.slice(1).flatMap((after, place) => {
    const before = series[place];
    const seconds = before ? (after.at - before.at) / 1_000 : 0;
    return before && seconds > 0 ? [arrivedBetween(before, after) / seconds] : [];
  });
  if (rates.length < INFLOW_SAMPLES - 2) return load;
  const sorted = rates.sort((a, b) => a - b);
  return { ...load, inflowPerSecond: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0 };
}

/** What came in, by the totals; where they are not known, by what must have come for the queue to look as it does. */
export function arrivedBetween(before: Load, after: Load): number {
  if (before.accepted !== undefined && after.accepted !== undefined)
    return Math.max(0, after.accepted - before.accepted);
  const done = ((after.at - before.at) / 1_000) * after.donePerSecond;
  return Math.max(0, backlogOf(after) - backlogOf(before) + done);
}

/**
 * Slots that do something useful. Tasks may be so short that a look at one moment misses them; where nobody knows yet
 * what keeps coming in, the average of late counts too.
 */
export function usedSlots(load: Load): number {
  const { busy, starved, taskMs = 0, live, slots = 0 } = load;
  const now = Math.max(0, busy - starved);
  if (load.inflowPerSecond !== undefined) return now;
  const lately = ((load.donePerSecond + load.failedPerSecond) * taskMs) / 1_000;
  // An attempt's time may hold some waiting for egress, so the average is bounded by what is there to be used.
  return Math.max(now, Math.min(lately, live * slots - starved));
}

function meanSlots(workers: readonly WorkerSnapshot[]): number {
  return Math.max(1, sum(workers, ({ slotsNow }) => slotsNow) / workers.length);
}

function isThere({ status }: WorkerSnapshot): boolean {
  return status === 'initializing' || status === 'running';
}

function sum(workers: readonly WorkerSnapshot[], of: (worker: WorkerSnapshot) => number): number {
  return workers.reduce((total, worker) => total + of(worker), 0);
}
