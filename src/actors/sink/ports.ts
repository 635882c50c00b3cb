/** What a sink needs of the cluster. */
import type { LedgerRecord } from '../../domain/task.ts';
import type { SinkRecord } from '../../domain/sink.ts';
import type { SinkTarget } from '../../sinks/target.ts';
import type { Log } from '../../telemetry/log.ts';

export interface SinkEntry {
  readonly seq: number;
  readonly subject: string;
  /** Of the message, and of what is kept apart from it. */
  readonly bytes: number;
  /** What was behind it in the ledger when it was read. */
  readonly pending: number;
  readonly record?: LedgerRecord | undefined;
  /** Why there is no record. */
  readonly problem?: string | undefined;
  /** Tells the ledger's consumer that all up to this one is delivered. */
  done(): void;
}

export interface SinkTail {
  /** Records that were there when it was opened. */
  readonly pending: number;
  readonly entries: AsyncGenerator<SinkEntry, void, undefined>;
}

export interface TailPlace {
  readonly ledger: string;
  readonly after: number;
}

export interface SinkTerm {
  /** Aborts when the lead is lost or the actor stops. */
  readonly over: AbortSignal;
  /** Throws when somebody else may lead by now. */
  check(): void;
  load(): Promise<SinkRecord | undefined>;
  /** Refused by the server when somebody else leads. */
  save(record: SinkRecord): Promise<void>;
  /** The newest wish to start over, now and whenever there is another, until the term is over. */
  watchReplays(listener: (token: string) => void): Promise<void>;
}

export interface SinkMeters {
  delivered(facts: { readonly items: number; readonly rejected: number }): void;
  failed(): void;
}

type Done = Extract<LedgerRecord, { state: 'done' }>;

export interface SinkPorts {
  lead(quiet: AbortSignal, work: (term: SinkTerm) => Promise<void>): Promise<void>;
  createTarget(): SinkTarget;
  /** Which stream the ledger is now. Undefined when NATS does not answer. */
  readLedger(signal: AbortSignal): Promise<string | undefined>;
  /** Undefined when NATS does not answer, and when the ledger is another one by now. */
  openTail(place: TailPlace, signal: AbortSignal): Promise<SinkTail | undefined>;
  /** The record with what was too large for it. Throws INVALID when that is gone. */
  readonly complete: (record: Done) => Promise<Done>;
  /** What the cluster keeps about this sink, besides its position. */
  readonly about: Omit<SinkRecord, 'checkpoint' | 'updatedAt' | 'error'>;
  readonly meters: SinkMeters;
  readonly log: Log;
  readonly now: () => number; // epoch ms
  readonly random: () => number;
}
