/** The vocabulary of sinks: where items go, and how far each sink is. */
import type { Secret } from './secret.ts';

export const SINK_TYPES = ['ndjson', 'csv', 'postgres', 'webhook', 'stdout'] as const;
export type SinkType = (typeof SINK_TYPES)[number];

export interface FileSink {
  readonly type: 'ndjson' | 'csv';
  /** The folder of the files. */
  readonly path: string;
  readonly gzip: boolean;
  /** A file that has reached this size, or this age, is followed by the next. */
  readonly rotateBytes: number;
  readonly rotateMs?: number | undefined;
  /** Of a CSV: only these fields of the items, in this order. */
  readonly columns?: readonly string[] | undefined;
}

export interface PostgresSink {
  readonly type: 'postgres';
  readonly url: Secret;
  readonly password?: Secret | undefined;
  readonly table: string;
}

export interface WebhookSink {
  readonly type: 'webhook';
  readonly url: Secret;
  /** Signs each request. */
  readonly secret?: Secret | undefined;
  /** Items in one request. */
  readonly batch: number;
  /** The folder of the file for what the receiver refuses. */
  readonly path: string;
}

export interface StdoutSink {
  readonly type: 'stdout';
}

export type SinkSpec = {
  readonly name: string;
  /** Only the items of this run. */
  readonly run?: string | undefined;
  /** Only items of these kinds. */
  readonly kinds?: readonly string[] | undefined;
} & (FileSink | PostgresSink | WebhookSink | StdoutSink);

/** What a position belongs to: in another life its sequence means nothing. */
export interface SinkLife {
  /** Which stream the ledger is: one that is made anew counts from 1 again. */
  readonly ledger: string;
  /** Begins where the cluster knows nothing of the sink: with its first run, and again once it was forgotten. */
  readonly sink: string;
}

/** How far a sink is. What is counted is committed together with the position. */
export interface Checkpoint {
  /** Absent in what was written before lives were. */
  readonly life?: SinkLife | undefined;
  /** Everything of the ledger up to this sequence is delivered. */
  readonly seq: number;
  readonly items: number;
  readonly rejected: number;
  /** Which wish to start over it has followed. */
  readonly replayed?: string | undefined;
  /** A batch up to this sequence may have been sent: it must be sent again as it was. */
  readonly pending?: number | undefined;
}

export const AT_THE_START: Checkpoint = { seq: 0, items: 0, rejected: 0 };

/** What the cluster keeps of a sink. */
export interface SinkRecord {
  readonly name: string;
  readonly type: SinkType;
  /** For people: where the items go, without anything secret. */
  readonly target: string;
  /** What a position depends on: it means nothing to a sink with other filters or another target. */
  readonly identity: string;
  readonly run?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly checkpoint: Checkpoint;
  readonly updatedAt: number; // epoch ms
  /** Absent while all is well. */
  readonly error?: { readonly at: number; readonly message: string } | undefined;
}
