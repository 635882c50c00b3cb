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
  /** As the submitter wrote it; the id is made from its normalised form. */
  readonly url?: string;
  readonly key?: string;
  /** Everything else the submitter sent for the scraper. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly priority: Priority;
  readonly createdAt: number; // epoch ms
  readonly notBefore?: number; // epoch ms
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

export interface TaskResult {
  readonly items: readonly unknown[];
  readonly pages: number;
  readonly bytes: number;
  readonly data?: unknown;
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
      /** Sequence of the intake message that accepted it: a redelivered message knows its own tasks again. */
      readonly intake: number;
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
