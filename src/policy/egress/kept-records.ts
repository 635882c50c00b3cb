/** Records of what was granted and sent: what caps, distances and exclusive leases follow from. */
import type { Closure } from './records.ts';

/** When, and how many; in order. A time is that of the end of a span, and so never too early. */
export type Spent = readonly (readonly [at: number, count: number])[];

export interface SpentRecord {
  readonly type: 'spent';
  readonly egress: string;
  readonly usedAt: number;
  readonly hour: Spent;
  readonly minute: Spent;
}

export interface PairRecord {
  readonly type: 'pair';
  readonly egress: string;
  readonly host: string;
  readonly hour: Spent;
  readonly minute: Spent;
  readonly closure?: Closure | undefined;
  /** Closures in a row. */
  readonly times: number;
}

export interface LeaseRecord {
  readonly type: 'lease';
  readonly id: string;
  readonly worker: string;
  readonly host: string;
  readonly scraper: string;
  readonly egress: string;
  readonly permits: number | null; // null: no limit
  readonly slots: number | null;
  readonly spacingMs: number;
  readonly exclusive: boolean;
  readonly session?: string | undefined;
  /** How long each renewal lets requests start. */
  readonly validMs: number;
  readonly grantedAt: number;
  /** Requests start from then, */
  readonly startAt: number;
  /** until then; */
  readonly startsUntil: number;
  /** and by then the last one is over, whether we hear of it or not. */
  readonly expiresAt: number;
  /** Numbers of requests that are over or given back: all below `low`, and these. */
  readonly low: number;
  readonly above: readonly number[];
  /** Of those how many were given back. */
  readonly unsent: number;
  /** How many have started, and when the latest did; 0: none. */
  readonly started: number;
  readonly lastStartAt: number;
  /** It is over; only the distance to its last start counts. */
  readonly ended: boolean;
}

export interface OpenRecord {
  readonly type: 'open';
  readonly until: number;
}
