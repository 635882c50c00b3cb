/**
 * The vocabulary of tasks. One task goes through
 *
 *   queued → (leased by a worker, retried or deferred any number of times) → done | dead | cancelled
 *
 * and the ledger keeps exactly one of the three ends. A dead task may be put back to queued by a person.
 */

export const PRIORITY_MAX = 9;
export const PRIORITIES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
export type Priority = (typeof PRIORITIES)[number];

/** A task as it was submitted; never changes afterwards. */
export interface TaskSpec {
  readonly id: string;
  readonly run: string;
  readonly scraper: string;
  /** As the submitter wrote it, but for tracking parameters that were to be dropped; the id is made from its normalised form. */
  readonly url?: string;
  readonly key?: string;
  /** Everything else the submitter sent for the scraper. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly priority: Priority;
  readonly createdAt: number; // epoch ms
  readonly notBefore?: number; // epoch ms
  /** Sequence of the intake message that brought it: a message that is delivered again knows its own tasks by it. */
  readonly intake?: number;
  /**
   * How many tasks led to it, each enqueued by the one before, the pages of one list counted as one; absent: it was
   * submitted from outside.
   */
  readonly depth?: number;
  /** The id of the task that enqueued it, in the same run. */
  readonly parent?: string;
}

/** How many pages may be led to. */
export interface PageLimits {
  readonly pagesPerRun?: number;
  readonly pagesPerHost?: number;
}

/** What has a budget is counted in its run under the scope, and nothing else is. */
export interface PageBudget extends PageLimits {
  /** The scraper whose links they are. */
  readonly scope: string;
}

/** A task that another one wants done, in the same run. */
export interface FollowUp {
  readonly scraper: string;
  readonly url?: string;
  readonly key?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly priority: Priority;
  readonly budget?: PageBudget;
  /** A further page of the list that the task is a page of: as deep as the task itself. */
  readonly continues?: boolean;
}

/** How deep a task is that another one led to. */
export function depthAfter(
  { depth = 0 }: Pick<TaskSpec, 'depth'>,
  { continues }: Pick<FollowUp, 'continues'>,
): number {
  return continues === true ? depth : depth + 1;
}

/** A task as a schedule submits it. */
export interface ScheduledTask {
  readonly url?: string;
  readonly key?: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

/** One failed attempt. */
export interface Fault {
  readonly at: number; // epoch ms
  readonly code: string;
  readonly message: string;
  readonly worker: string;
  readonly proxy?: string;
  readonly ms: number;
}

/** What travels to a worker: the task, its fence, and what happened to it so far. */
export interface TaskMessage {
  readonly spec: TaskSpec;
  /** Sequence of the ledger's `queued` record: every outcome must expect it. */
  readonly acceptSeq: number;
  readonly faults: readonly Fault[];
  /** Proxies that must not be tried again for this task. */
  readonly triedProxies: readonly string[];
  readonly deferrals: number;
  /** When the deferrals began that it is in (epoch ms). */
  readonly deferredSince?: number | undefined;
}

/** Where items and data are that one record does not hold. */
export interface ResultBlob {
  readonly upload: string;
  readonly chunks: number;
  readonly bytes: number;
  readonly sha256: string;
  /** How many items are in it. */
  readonly items: number;
}

/** An item that the scraper's own schema refused. */
export interface BadItem {
  /** Its place among all that the task emitted, from 0. */
  readonly index: number;
  readonly problem: string;
  readonly item: unknown;
}

export interface TaskResult {
  /** None where there is a `blob`: they are in there. */
  readonly items: readonly unknown[];
  readonly pages: number;
  readonly bytes: number;
  readonly data?: unknown;
  readonly blob?: ResultBlob;
  /** Where the scraper has a schema of its items: how many were stored, of how many, and how many were not. */
  readonly published?: number;
  readonly total?: number;
  readonly errors?: number;
  /** The first of those that were not stored. */
  readonly badItems?: readonly BadItem[];
}

export function countItems({ items, blob }: TaskResult): number {
  return blob ? blob.items : items.length;
}

interface Settled {
  readonly spec: TaskSpec;
  readonly at: number; // epoch ms
  readonly faults: readonly Fault[];
}

export type LedgerRecord =
  | {
      readonly state: 'queued';
      readonly spec: TaskSpec;
      readonly at: number;
      readonly faults: readonly Fault[];
    }
  | (Settled & {
      readonly state: 'done';
      readonly worker: string;
      readonly startedAt: number;
      readonly result: TaskResult;
    })
  | (Settled & {
      readonly state: 'dead';
      readonly error: { readonly code: string; readonly message: string };
      /** What was submitted, when it could not be read as a task. */
      readonly original?: Uint8Array;
    })
  | (Settled & { readonly state: 'cancelled'; readonly reason: string });

export type Outcome = Exclude<LedgerRecord, { readonly state: 'queued' }>;
