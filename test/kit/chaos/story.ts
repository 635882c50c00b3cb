/** All that is known of a run of the chaos test when it is over: what the checker reads. */
import type { LedgerRecord } from '../../../src/domain/task.ts';
import type { WriterCounts } from '../../../src/policy/counted.ts';
import type { Stamp } from '../../../src/wire/task-codec.ts';
import type { ChaosEvent } from './history.ts';

/**
 *   ordinary  its page comes, after two failures at most
 *   slow      takes longer than a lease, and says that it lives
 *   silent    takes longer than a lease, and says nothing
 *   poison    ends the process that runs it
 *   hopeless  its page never comes
 */
export type TaskKind = 'ordinary' | 'slow' | 'silent' | 'poison' | 'hopeless';

/** One message of the ledger. Tasks are called `<run>.<id>`. */
export type LedgerEntry =
  | {
      readonly type: 'task';
      readonly task: string;
      readonly state: LedgerRecord['state'];
      /** The addresses in the items of a task that is done. */
      readonly items?: readonly unknown[];
      /** Why it is dead. */
      readonly code?: string;
      /** Where it is, and who was to count it, if it was stored by itself. */
      readonly by?: Stamp & { readonly seq: number };
    }
  | {
      readonly type: 'count';
      readonly run: string;
      readonly writer: string;
      readonly counts: WriterCounts;
    };

export interface ChaosStory {
  /** Every task that anybody tried to submit. */
  readonly tasks: ReadonlyMap<string, { readonly kind: TaskKind; readonly url: string }>;
  readonly events: readonly ChaosEvent[];
  /** In order, from the first: nothing is left out, also not what was replaced. */
  readonly ledger: readonly LedgerEntry[];
  /** What is still there at the end: messages of the intake, and the tasks that the queue holds. */
  readonly left: { readonly intake: number; readonly tasks: ReadonlySet<string> };
  /** Undefined: it was given up. */
  readonly drainedMs: number | undefined; // after the last fault
  readonly runs: readonly {
    readonly id: string;
    readonly standing: boolean;
    readonly state: string;
    readonly final?: Readonly<Record<string, number>>;
  }[];
  readonly limits: ChaosLimits;
}

export interface ChaosLimits {
  /** Attempts after the first. */
  readonly retries: number;
  /** So many starts alone that do not end bury a task. */
  readonly soloStarts: number;
  readonly drainMaxMs: number;
}
