/** What the demo site saw: the last requests, in the order in which they arrived. */
import { createWaiters } from './waiters.ts';

export interface RequestRecord {
  readonly seq: number; // from 1, and on after a clearing
  readonly startMs: number; // monotonic
  readonly atEpochMs: number;
  readonly method: string;
  readonly path: string; // with the query
  readonly host: string; // as the client called the site
  readonly secure: boolean;
  readonly ip: string;
  readonly port: number; // of the client
  readonly connection: number; // requests of one socket share it
  /** The name under which the client's address is known, or the address. */
  readonly egress: string;
  readonly userAgent: string | undefined;
  readonly cookie: string | undefined;
  readonly rawHeaders: readonly string[]; // name, value, name, value, … in the client's order
  readonly endMs: number | undefined; // monotonic; undefined while the answer is under way
  readonly status: number | undefined;
  /** The answer was handed over to its end. */
  readonly finished: boolean;
}

type Ending = Pick<RequestRecord, 'endMs' | 'status' | 'finished'>;
type Kept = Omit<RequestRecord, keyof Ending> & { -readonly [K in keyof Ending]: Ending[K] };
export type Arrival = Omit<RequestRecord, 'seq' | keyof Ending>;

export interface LogReader {
  /** Those that are still kept, oldest first. */
  records(): readonly RequestRecord[];
  /** How many were forgotten because the log is bounded: what is counted over the log is too low by these. */
  dropped(): number;
  /** Number of requests whose answer is under way. */
  open(): number;
  /** The first request, past or future, that passes; looked at when it arrives and when it ends. */
  until(test: (record: RequestRecord) => boolean): Promise<RequestRecord>;
  clear(): void;
}

export interface RequestLog extends LogReader {
  /** Returns what to call at the end of the request. */
  add(arrival: Arrival): (ending: Ending) => void;
}

export function createRequestLog(max: number): RequestLog {
  let kept: RequestRecord[] = [];
  let seq = 0;
  let dropped = 0;
  let open = 0;
  const waiters = createWaiters<RequestRecord>();

  return {
    add(arrival) {
      seq += 1;
      open += 1;
      const record: Kept = { ...arrival, seq, endMs: undefined, status: undefined, finished: false };
      kept.push(record);
      // Cut rarely and by half, so that a request costs the same however long the log is.
      if (kept.length >= max * 2) {
        dropped += kept.length - max;
        kept = kept.slice(-max);
      }
      waiters.tell(record);
      return ({ endMs, status, finished }) => {
        open -= 1;
        record.endMs = endMs;
        record.status = status;
        record.finished = finished;
        waiters.tell(record);
      };
    },
    records: () => kept,
    dropped: () => dropped,
    open: () => open,
    until: (test) => waiters.until(kept, test),
    clear() {
      kept = [];
      dropped = 0;
    },
  };
}
