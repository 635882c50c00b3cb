/** What a worker needs from the rest of the world. */
import type { Failure } from '../../domain/failure.ts';
import type { FollowUp, Outcome, Priority, TaskMessage, TaskSpec } from '../../domain/task.ts';
import type { PressureLimits, Strain } from '../../policy/pressure.ts';
import type { PoisonLimits } from '../../policy/poison.ts';
import type { SettleLimits } from '../../policy/settle.ts';
import type { Absence } from '../../policy/standing.ts';
import type { Fetch, SessionHandle } from '../../scrapers/page.ts';
import type { Scraper } from '../../scrapers/scraper.ts';
import type { Log } from '../../telemetry/log.ts';

/** One task, lent for the time of a lease. */
export interface Delivery {
  readonly task: TaskMessage;
  readonly lane: Priority;
  /** How often the server has delivered it, this time included. */
  readonly deliveries: number;
  /** Where the server hears what becomes of it. */
  readonly reply: string;
  /** When it became ready (epoch ms, by the server's clock). */
  readonly queuedAt?: number | undefined;
  readonly receivedAt: number; // monotonic ms
  /** When the lease began, or was last renewed (monotonic ms). */
  leasedAt: number;
}

export interface LaneListener {
  onDelivery(delivery: Delivery): void;
  /** A request has ended without being filled: there may be reason to ask again. */
  onRoom(): void;
}

/** A queue of ready tasks. What is requested comes when it is there. */
export interface LaneQueue {
  /** Asked for, and not yet delivered. */
  requested(): number;
  request(count: number): void;
  /** Withdraws what was asked for; what is under way already still comes. */
  withdraw(): void;
}

/** Where this worker stands: of each priority in the queue that is shared, and in those of single scrapers. */
export interface Lanes {
  /** The one that was asked longest ago comes first. */
  queues(lane: Priority): readonly LaneQueue[];
  /** Withdraws everything. When it resolves, nothing comes any more. */
  close(): Promise<void>;
  ack(delivery: Delivery): void;
  giveBack(delivery: Delivery, delayMs: number): void;
  extend(delivery: Delivery): void;
}

export type StoreOutcome =
  | { readonly kind: 'stored' }
  /** Somebody else has settled the task. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface Hand {
  readonly run: string;
  readonly id: string;
  readonly scraper: string;
  readonly since: number; // epoch ms
  readonly attempt: number;
  readonly reply: string;
}

/** A run, or one task of it. */
export interface Cancelled {
  readonly run: string;
  readonly id?: string | undefined;
}

/** Pages for one attempt. */
export interface AttemptFetch {
  readonly fetch: Fetch;
  session(): SessionHandle | undefined;
  counts(): { readonly pages: number; readonly bytes: number };
  /** Ends what is still under way, and lets go of what only this attempt could use. */
  close(): void;
}

/** What the whole cluster wants to know of its tasks. */
export interface TaskMeter {
  /** From the start of an attempt to its end. */
  attempted(ms: number): void;
  /** From being ready to being started. */
  waited(ms: number): void;
  retried(code: string): void;
  deferred(reason: string): void;
}

export interface WorkerPorts {
  openLanes(listener: LaneListener): Lanes;
  findScraper(name: string): Scraper | undefined;
  /** Who may have a scraper that this worker lacks. Absent: nobody. */
  judgeAbsence?(scraper: string): Absence;
  /** Stores the one outcome of a task, if it has none yet. Never rejects. */
  storeOutcome(outcome: Outcome, acceptSeq: number): Promise<StoreOutcome>;
  /** Stores the next attempt: to be delivered at this time, at once, or when nothing holds it back. Never rejects. */
  storeNext(task: TaskMessage, atMs: number | 'parked' | undefined): Promise<StoreOutcome>;
  /** Counts a start alone, durably; tells how many there were before. */
  beginSolo(spec: TaskSpec): Promise<number>;
  /** The worker has survived it. */
  endSolo(spec: TaskSpec): Promise<void>;
  /** Tells the cluster what this worker has in hand. */
  tellInHand(hands: readonly Hand[]): void;
  withLock<T>(
    lock: {
      readonly key: string;
      readonly signal: AbortSignal;
      /** Somebody else may hold it by now, whatever the handler makes of it. */
      readonly onLost: (failure: Failure) => void;
    },
    use: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Absent: the scrapers of this worker cannot fetch. */
  openFetch?(attempt: {
    readonly task: TaskMessage;
    readonly scraper: Scraper;
    /** Aborted when the attempt shall end; and by who fetches, when it is over with something still under way. */
    readonly life: AbortController;
  }): AttemptFetch;
  /** What the scraper has set up in this worker. Absent: nothing is ever set up. */
  sharedOf?(scraper: Scraper): Promise<unknown>;
  /** Submits what a task has led to, into the same run; rejects unless all of it is stored. */
  submit?(followUps: readonly FollowUp[], from: TaskSpec): Promise<void>;
  /** Why this task must wait, if it must. */
  pausedBy(spec: TaskSpec): string | undefined;
  /** Whether this worker may take work at all. */
  isOpen(): boolean;
  /** Calls back when it may again; returns the undo. Absent: it is noticed at the next look. */
  onOpen?(listener: () => void): () => void;
  /** Calls back with what nobody wants any more; returns the undo. */
  onCancelled(listener: (cancelled: Cancelled) => void): () => void;
  /** When the cluster last took a heartbeat of this worker (monotonic ms). */
  lastBeatAt(): number;
  /** Whether nothing is left to do: neither waiting, nor in anybody's hand, nor delayed. */
  isEmpty?(): Promise<boolean>;
  /** What presses, since the last call. Absent: this worker always uses all of its slots. */
  readStrain?(): Strain;
  /** It lets itself run more, or fewer, tasks at once. */
  onSlots?(): void;
  announce(kind: 'failed' | 'buried', facts: object): void;
  readonly meter?: TaskMeter | undefined;
  readonly log: Log;
}

export interface WorkerLimits {
  readonly worker: string;
  /** Handlers at once. */
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly prefetchMax: number;
  /** Hard limit of an attempt, where the scraper has none of its own. */
  readonly timeoutMs: number;
  readonly settle: SettleLimits;
  readonly poison: PoisonLimits;
  readonly pressure: PressureLimits;
  /** Outcomes that are being stored at once. */
  readonly settlingMax: number;
  /** How long a handler that was told to end may take to do so. */
  readonly abortGraceMs: number;
}

export const WORKER_DEFAULTS = {
  timeoutMs: 3_600_000,
  settlingMax: 4_096,
  abortGraceMs: 5_000,
  pressure: { memoryPercent: 85, cpuPercent: 80, loopLagMs: 100, intervalMs: 5_000 },
} as const;
