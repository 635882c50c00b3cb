/** What the coordinator needs from the outside, in its own words. */
import type { LedgerRecord, TaskMessage } from '../../domain/task.ts';
import type { CountRecord } from '../../policy/counters.ts';
import type { RunRecord } from '../../wire/run-record.ts';
import type { ParsedSubmission } from '../../wire/submission.ts';
import type { ParsedRequest } from '../../wire/submission-task.ts';

/** One message of the intake, in hand until it is acknowledged or given back. */
export interface IntakeMessage {
  /** Its place in the intake: the same at every delivery. */
  readonly seq: number;
  readonly at: number; // epoch ms, when the server stored it
  readonly bytes: number;
  readonly redelivered: boolean;
  /** Messages of the same source that wait behind it. */
  readonly behind: number;
  readonly scraper: string;
  /** The run in its subject. */
  readonly run?: string;
  /** The run in its header, for a message that has none in its subject. */
  readonly headerRun?: string;
  parse(): ParsedSubmission;
  /** Puts the whole message under the subject of a run. */
  forwardWhole(run: string): Promise<void>;
  ack(): void;
  giveBack(delayMs: number): void;
}

/** Where intake messages come from: one run, or everything without a run in its subject. */
export interface IntakeSource {
  readonly run?: string;
}

export interface Intake {
  /** Ends when the signal aborts; what was fetched but not handed out is given back. */
  messages(source: IntakeSource, signal: AbortSignal): AsyncIterable<IntakeMessage>;
  /** Puts tasks under the subject of their run; `seq` is the message they came in. */
  forward(tasks: readonly ParsedRequest[], to: { scraper: string; run: string; seq: number }): Promise<void>;
  /** Changes whenever something was submitted. */
  lastSeq(): Promise<number>;
  /** What waits or is in hand, by the runs in the subjects. */
  openByRun(): Promise<readonly { scraper: string; run: string; messages: number }[]>;
  openOf(run: string): Promise<number>;
  /** Removes the consumer of a run that needs none any more. */
  forget(run: string): Promise<void>;
  /** The runs that have a consumer. */
  remembered(): Promise<readonly string[]>;
}

export type ChangeOutcome =
  | { readonly kind: 'stored'; readonly seq: number }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

type Acceptable = Extract<LedgerRecord, { state: 'queued' | 'dead' }>;

export interface Ledger {
  accept(record: Acceptable): Promise<ChangeOutcome>;
  countDuplicates(count: { run: string; duplicates: number; intake: number }): Promise<ChangeOutcome>;
  readMany(
    run: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly seq: number; readonly record: LedgerRecord }>>;
  counts(run: string): Promise<CountRecord & { readonly recent: readonly number[] }>;
  /** Changes whenever anything in the ledger did. */
  lastSeq(): Promise<number>;
}

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
