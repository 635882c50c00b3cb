/** The counters of a run: sums of what each writer committed, and how they read to a person. */

/** What one writer has committed for one run since it started; it only grows. */
export interface CountRecord {
  readonly accepted: number;
  readonly duplicates: number;
  readonly done: number;
  readonly dead: number; // deaths: a task that died, was put back and died again counts twice
  readonly cancelled: number;
  readonly redriven: number; // dead tasks that are dead no longer: put back, or dropped
  readonly items: number;
}

export const NO_COUNTS: CountRecord = {
  accepted: 0,
  duplicates: 0,
  done: 0,
  dead: 0,
  cancelled: 0,
  redriven: 0,
  items: 0,
};

export function sumCounts(records: Iterable<CountRecord>): CountRecord {
  const sum = { ...NO_COUNTS };
  for (const record of records) {
    sum.accepted += record.accepted;
    sum.duplicates += record.duplicates;
    sum.done += record.done;
    sum.dead += record.dead;
    sum.cancelled += record.cancelled;
    sum.redriven += record.redriven;
    sum.items += record.items;
  }
  return sum;
}

/** The tasks of a run by what became of them: `accepted = done + dead + cancelled + open`. */
export interface TaskCounts {
  readonly accepted: number;
  readonly done: number;
  readonly dead: number;
  readonly cancelled: number;
  readonly open: number;
}

export function countTasks(counts: CountRecord): TaskCounts {
  const { done, cancelled } = counts;
  const dead = Math.max(0, counts.dead - counts.redriven);
  const settled = done + dead + cancelled;
  // A record that is missing must show as a sum that is too small, never as a negative number of tasks.
  const accepted = Math.max(counts.accepted, settled);
  return { accepted, done, dead, cancelled, open: accepted - settled };
}

export interface RunCounts {
  readonly total: number;
  readonly queued: number;
  readonly running: number;
  readonly deferred: number;
  readonly done: number;
  readonly dead: number;
  readonly cancelled: number;
  readonly duplicates: number;
  readonly items: number;
  /** The same under the names that users of work queues know. */
  readonly pending: number;
  readonly claimed: number;
  readonly completed: number;
  readonly failed: number;
  readonly remaining: number;
}

/**
 * `total = queued + running + deferred + done + dead + cancelled`, always. The last three are exact; `running` and
 * `deferred` come from elsewhere and may be a moment old, so they are cut to what the exact ones leave for them.
 */
export function describeCounts(
  counts: CountRecord,
  seen: { readonly running: number; readonly deferred: number },
): RunCounts {
  const { accepted, done, dead, cancelled, open } = countTasks(counts);
  const running = clamp(seen.running, open);
  const deferred = clamp(seen.deferred, open - running);
  const queued = open - running - deferred;
  return {
    total: accepted,
    queued,
    running,
    deferred,
    done,
    dead,
    cancelled,
    duplicates: counts.duplicates,
    items: counts.items,
    pending: queued,
    claimed: running,
    completed: done,
    failed: dead,
    remaining: open,
  };
}

/** As the record of a run that has ended keeps them. */
export function finalCounts(counts: CountRecord): Readonly<Record<string, number>> {
  return { ...describeCounts(counts, { running: 0, deferred: 0 }), redriven: counts.redriven };
}

export function countsOfFinal(final: Readonly<Record<string, number>>): CountRecord {
  const { total = 0, duplicates = 0, done = 0, dead = 0, cancelled = 0, redriven = 0, items = 0 } = final;
  return { accepted: total, duplicates, done, dead: dead + redriven, cancelled, redriven, items };
}

/** They only grow, so of two readings the higher one is newer, whichever came first. */
export function latestCounts(a: CountRecord, b: CountRecord): CountRecord {
  return {
    accepted: Math.max(a.accepted, b.accepted),
    duplicates: Math.max(a.duplicates, b.duplicates),
    done: Math.max(a.done, b.done),
    dead: Math.max(a.dead, b.dead),
    cancelled: Math.max(a.cancelled, b.cancelled),
    redriven: Math.max(a.redriven, b.redriven),
    items: Math.max(a.items, b.items),
  };
}

function clamp(count: number, most: number): number {
  return Math.min(Math.max(count, 0), most);
}
