/**
 * Publishes to one stream, many messages at a time, and tells for each what became of it.
 *
 * An outcome is `stored` only if the stream has the message at that sequence, `refused` only if it has no copy of
 * it and will have none, and `unknown` otherwise. It survives lost answers, lost connections and restarts of the
 * server: what is in doubt is checked or sent again, never assumed.
 *
 * - A compare-and-set (`expect`) is stored at most once, and its outcome is found out by reading the subject.
 *   Two writers that might write the very same bytes with the same expectation must put their name into them.
 *   In a work queue a message may be stored and consumed before the check: absence proves nothing there, and the
 *   outcome is `unknown`, unless the message is also repeatable.
 * - A `repeatable` message is sent again until it is stored, so the stream may end up with several copies.
 * - Anything else in doubt is `unknown` at once.
 *
 * Messages on one subject are stored in the order of publishing. With `durability: 'interval'` there is one
 * exception: a message that is sent again may come after later ones that were under way with it.
 */
import type { Log } from '../telemetry/log.ts';
import type { Connection } from './connect.ts';
import { createPublisherCore } from './publisher/core.ts';
import { readStreamTraits } from './publisher/traits.ts';

interface OutgoingMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sending it twice, or late, does no harm. */
  readonly repeatable?: boolean;
}

/** The server checks one expectation per message, so a message has one or the other. */
export type Outgoing = OutgoingMessage &
  (
    | {
        /** The last sequence on the subject that this write expects; 0 = the subject has none yet. */
        readonly expect?: number;
        readonly fence?: never;
      }
    | {
        readonly expect?: never;
        /** Another subject of the same stream, whose last sequence must be `token`. */
        readonly fence: { readonly subject: string; readonly token: number };
      }
  );

export type PublishOutcome =
  | { readonly kind: 'stored'; readonly seq: number }
  /** `code` is the server's (10071 wrong last sequence, 10077 stream full, …) or one of publisher/answer.ts. */
  | { readonly kind: 'refused'; readonly code: number; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface Publisher {
  /** Never rejects. Beyond the window the message waits in line. */
  publish(message: Outgoing): Promise<PublishOutcome>;
  /**
   * The outcomes of all of them, when the last one is known; never rejects. Cheaper than as many single messages while
   * the window has room for all of them at once. No subject twice.
   */
  publishMany(messages: readonly Outgoing[]): Promise<readonly PublishOutcome[]>;
  /** Undefined while the window has room; else a promise of room. */
  room(): Promise<void> | undefined;
  /** Resolves when everything published so far has its outcome. */
  flush(): Promise<void>;
  /** Ends at once: what is still under way becomes `unknown`. */
  close(): Promise<void>;
  /** Messages in the window. */
  pending(): number;
}

export interface PublisherOptions {
  readonly stream: string;
  /** `always`: the server syncs the disk before it answers, so messages travel in atomic batches. */
  readonly durability: 'always' | 'interval';
  /** Messages under way at most. */
  readonly window?: number;
  readonly windowBytes?: number;
  /** Messages in one atomic batch at most. */
  readonly batch?: number;
  readonly ackTimeoutMs?: number;
  /** How long a message is tried before its outcome is `unknown`. */
  readonly giveUpMs?: number;
  readonly log?: Log;
}

const DEFAULTS = {
  window: 4_096,
  windowBytes: 16 * 1024 * 1024,
  batch: 500,
  ackTimeoutMs: 5_000,
  giveUpMs: 60_000,
} as const;

/** Throws `INVALID` when there is no such stream, `UNAVAILABLE` when the server does not answer. */
export async function createPublisher(connection: Connection, options: PublisherOptions): Promise<Publisher> {
  const traits = await readStreamTraits(connection, options.stream);
  return createPublisherCore(connection, { ...DEFAULTS, ...options }, traits);
}
