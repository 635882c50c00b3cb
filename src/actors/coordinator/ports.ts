/** What the coordinator needs from the outside, in its own words. */
import type { LedgerRecord, PageBudget, TaskMessage } from '../../domain/task.ts';
import type { CountRecord } from '../../policy/counters.ts';
import type { RunRecord } from '../../wire/run-record.ts';

export type ChangeOutcome =
  | { readonly kind: 'stored'; readonly seq: number }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

type Acceptable = Extract<LedgerRecord, { state: 'queued' | 'dead' }>;

export interface Ledger {
  /** The outcome of each. */
  accept(records: readonly Acceptable[]): Promise<readonly ChangeOutcome[]>;
  /** Of one intake message in one run, counted once however often it is asked for; false: it was no longer `mayCount`. */
  countDuplicates(count: {
    run: string;
    duplicates: number;
    intake: number;
    mayCount: () => boolean;
  }): Promise<boolean>;
  /** The ids of those pages that have a place in the budget, now or since before; however often it is asked for. */
  claimPages(claim: {
    run: string;
    budget: PageBudget;
    pages: readonly { readonly id: string; readonly host: string }[];
  }): Promise<ReadonlySet<string>>;
  /** What is told is also counted, whoever has stored it. */
  readMany(
    run: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly seq: number; readonly record: LedgerRecord }>>;
  counts(run: string): Promise<CountRecord>;
  /** Changes whenever anything in the ledger did. */
  lastSeq(): Promise<number>;
}

/** What is wrong with the input of a task; undefined: nothing, or nobody here knows. */
export type CheckInput = (scraper: string, input: unknown) => Promise<string | undefined> | undefined;

export interface TaskQueue {
  /** Resolves when all of them are stored; throws when that cannot be said of one. Twice does no harm. */
  enqueue(tasks: readonly TaskMessage[]): Promise<void>;
  /** Tasks that are there, waiting or in hand. */
  size(): Promise<number>;
}

export interface RunDraft {
  readonly id: string;
  readonly scraper: string;
  readonly standing: boolean;
}

/** A run, and the revision of its record: of two views of a run the higher one is newer. */
export interface VersionedRun {
  readonly run: RunRecord;
  readonly revision: number;
}

/**
 * Compare-and-set, again when somebody was faster. `change` returns undefined to leave the run as it is, and the
 * answer is then undefined too, as it is when there is no such run.
 */
export type ChangeRun<Answer> = (
  id: string,
  change: (run: RunRecord) => RunRecord | undefined,
) => Promise<Answer | undefined>;

export interface Runs {
  /** The run of that id, made if there is none; an existing one stays as it is. */
  ensure(draft: RunDraft): Promise<VersionedRun & { readonly created: boolean }>;
  list(): Promise<readonly VersionedRun[]>;
  readonly change: ChangeRun<RunRecord>;
  watch(listener: (id: string, found: VersionedRun | undefined) => void, signal: AbortSignal): Promise<void>;
}

export interface RunNews {
  readonly kind: 'created' | 'started' | 'ended';
  readonly run: RunRecord;
}
