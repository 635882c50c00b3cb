/** The ledger: one record per task, changed only by compare-and-set, and counters that are stored before anybody hears of a change. */
import type { LedgerRecord, Outcome } from '../domain/task.ts';
import type { CountRecord } from '../policy/counters.ts';
import type { Stamp } from '../wire/task-codec.ts';
import type { ChangeOutcome } from './commit-lane.ts';

export interface Stored {
  readonly seq: number;
  readonly record: LedgerRecord;
  /** Whose counters it is in, or will be; absent: it was stored together with them. */
  readonly by?: Stamp;
}

/** What the index of dead tasks tells of one, without reading its record. */
export interface DeadMark {
  readonly scraper: string;
  readonly at: number; // epoch ms
  readonly code: string;
  readonly message: string;
  /** What was submitted is no task, so it cannot be put back. */
  readonly unreadable?: boolean;
}

export interface DeadEntry extends DeadMark {
  readonly run: string;
  readonly id: string;
}

type Queued = Extract<LedgerRecord, { state: 'queued' }>;
/** A `dead` record is for what was submitted and is no task. */
export type Acceptable = Queued | Extract<LedgerRecord, { state: 'dead' }>;

/** One per actor life. What it says is stored is also counted, and so is what was there when it says refused to a settlement. */
export interface LedgerWriter {
  /** The outcome of each. `refused`: the task is known already. */
  accept(records: readonly Acceptable[]): Promise<readonly ChangeOutcome[]>;
  /**
   * `refused`: the task has an outcome already, or was put back meanwhile. `packed`: the outcome as bytes, where somebody
   * had to pack it already.
   */
  settle(outcome: Outcome, acceptSeq: number, packed?: Uint8Array): Promise<ChangeOutcome>;
  /** From dead back to queued. */
  redrive(record: Queued, deadSeq: number): Promise<ChangeOutcome>;
  /** From dead to cancelled: nobody wants it any more. */
  drop(outcome: Extract<LedgerRecord, { state: 'cancelled' }>, deadSeq: number): Promise<ChangeOutcome>;
  /**
   * Counts what somebody stored who may have died before counting it. Asked for whatever is read from the ledger,
   * before it is replaced or work goes on that rests on it: afterwards nobody could tell.
   */
  ensureCounted(found: Iterable<Stored>): Promise<void>;
  pending(): number;
  close(): void;
}

export interface LedgerReader {
  read(run: string, id: string): Promise<Stored | undefined>;
  /** In one request per thousand; what is not there is not in the answer. Keys are ids. */
  readMany(run: string, ids: readonly string[]): Promise<Map<string, Stored>>;
  /** The sum over all writers. */
  counts(run: string): Promise<CountRecord>;
  /** The same of many runs in few requests; a run without any is not in the answer. */
  countsOfMany(runs: readonly string[]): Promise<Map<string, CountRecord>>;
  /** The dead tasks of one run, or of all. */
  listDead(run?: string): Promise<DeadEntry[]>;
  /** The runs that know a task of this id. */
  findRuns(id: string): Promise<string[]>;
}
