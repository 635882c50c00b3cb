/**
 * The records of the egress, written by the leader alone. A set of writes goes as atomic batches, each under the leader's
 * lock: the server stores a batch as a whole while the lock stands at our token, and not at all otherwise. So
 * a deposed leader stores nothing, and what it decided never leaves it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { keys } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import type { Lock } from './lock.ts';
import { createBatchSender, type Member } from './publisher/batch.ts';
import { EXPECT_HEADER, EXPECT_SUBJECT_HEADER } from './publisher/entry.ts';
import { readPages } from './read-last.ts';

export type StoreWrite =
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly value: Uint8Array;
      readonly ttlMs?: number | undefined;
    }
  | { readonly kind: 'remove'; readonly key: string };

export interface EgressStore {
  /** Everything that is stored, key by key, as it stood when the lock was taken or later. */
  load(): Promise<ReadonlyMap<string, Uint8Array>>;
  /**
   * Resolves when all of it is stored. Throws CONFLICT when the lock is lost: then the batch that was refused is not
   * stored. Throws TIMEOUT when nobody can tell: then the term is over, and the next one reads what there is.
   */
  commit(writes: readonly StoreWrite[]): Promise<void>;
  close(): void;
}

export interface EgressStoreOptions {
  readonly bucket: string;
  readonly lock: Lock;
  /** How long a batch waits for its answer. */
  readonly answerMs?: number;
}

const ANSWER_MS = 2_000;
const PAGE_LIMIT_MS = 5_000;
const LOAD_TRIES = 20;
const LOAD_PAUSE_MS = 100;
/** The server takes no more in one batch. */
const BATCH_MAX = 1_000;
const BATCH_MAX_BYTES = 4 * 1024 * 1024;
/** The server's codes for a wrong expected sequence: of one message, and inside one batch. */
const WRONG_SEQUENCE = new Set([10_071, 10_164]);
const RENEWAL_TRIES = 50;
const RENEWAL_PAUSE_MS = 10;
/** Long enough for those who follow the keys. */
const MARKER_TTL_S = 60;
const NOTHING = new Uint8Array();

export function createEgressStore(connection: Connection, options: EgressStoreOptions): EgressStore {
  const { bucket, lock, answerMs = ANSWER_MS } = options;
  const stream = `KV_${bucket}`;
  const prefix = `$KV.${bucket}.`;
  const lockSubject = prefix + keys.lock(lock.name);
  const sender = createBatchSender({ connection, stream, ackTimeoutMs: answerMs });
  const forget = connection.onChange((up) => {
    if (!up) sender.hush('the connection was lost');
  });

  return {
    load,
    async commit(writes) {
      for (const batch of inBatches(writes)) await store(batch);
    },
    close() {
      forget();
      sender.hush('closed');
      sender.close();
    },
  };

  /**
   * Any replica may answer, and one that lags tells less. But whatever was stored under an older lock lies before ours in
   * the stream: a reading that came as far as our lock has seen all of it.
   */
  async function load(): Promise<ReadonlyMap<string, Uint8Array>> {
    for (let left = LOAD_TRIES; left > 0; left -= 1) {
      const token = lock.token();
      const found = new Map<string, Uint8Array>();
      let reached = 0;
      for await (const page of readPages(connection, {
        stream,
        limitMs: PAGE_LIMIT_MS,
        subject: `${prefix}>`,
      })) {
        for (const [subject, { seq, data }] of page) {
          reached = Math.max(reached, seq);
          // Without a value it is the marker of something that is gone.
          if (data.length === 0) found.delete(subject.slice(prefix.length));
          else if (subject !== lockSubject) found.set(subject.slice(prefix.length), data);
        }
      }
      if (reached >= token) return found;
      await delay(LOAD_PAUSE_MS);
    }
    throw new Failure('UNAVAILABLE', `the bucket ${bucket} could not be read as far as it is written`);
  }

  async function store(batch: readonly StoreWrite[]): Promise<void> {
    for (let left = RENEWAL_TRIES; ; left -= 1) {
      const token = lock.token();
      if (!connection.isUp()) throw new Failure('UNAVAILABLE', 'the connection to NATS is lost');
      const answer = await sender.send(membersOf(batch, token));
      if (answer.kind === 'committed' || answer.kind === 'stored') return;
      if (answer.kind === 'silence')
        throw new Failure('TIMEOUT', `it is not known whether the egress was stored: ${answer.reason}`);
      if (answer.kind === 'nobody')
        throw new Failure('UNAVAILABLE', `nobody answers for the bucket ${bucket}`);
      if (!WRONG_SEQUENCE.has(answer.code) || left === 1)
        throw new Failure(
          left === 1 ? 'CONFLICT' : 'UNAVAILABLE',
          `the egress was not stored: ${answer.reason}`,
        );
      // Refused, so nothing is stored: the lock is lost, or its renewal was faster and its new token is on the way.
      if (lock.token() === token) await delay(RENEWAL_PAUSE_MS);
    }
  }

  /** One fence for the whole: a batch is stored together or not at all. */
  function membersOf(batch: readonly StoreWrite[], token: number): Member[] {
    const fence = `${EXPECT_HEADER}: ${token}\r\n${EXPECT_SUBJECT_HEADER}: ${lockSubject}\r\n`;
    return batch.map((write, place) => ({
      message: { subject: prefix + write.key, payload: write.kind === 'put' ? write.value : NOTHING },
      headerLines: (place === 0 ? fence : '') + headersOf(write),
    }));
  }
}

function headersOf(write: StoreWrite): string {
  if (write.kind === 'remove') return `KV-Operation: DEL\r\nNats-TTL: ${MARKER_TTL_S}s\r\n`;
  // Whole seconds, rounded up: nothing ends before its time.
  return write.ttlMs === undefined ? '' : `Nats-TTL: ${Math.max(1, Math.ceil(write.ttlMs / 1_000))}s\r\n`;
}

/** In the order in which they came, each key once, with its last write. */
function inBatches(writes: readonly StoreWrite[]): StoreWrite[][] {
  const last = new Map<string, StoreWrite>();
  for (const write of writes) {
    last.delete(write.key);
    last.set(write.key, write);
  }
  const batches: StoreWrite[][] = [];
  let bytes = Infinity;
  for (const write of last.values()) {
    const batch = batches.at(-1);
    const size = write.kind === 'put' ? write.value.length : 0;
    if (!batch || batch.length >= BATCH_MAX || bytes + size > BATCH_MAX_BYTES) {
      batches.push([write]);
      bytes = size;
    } else {
      batch.push(write);
      bytes += size;
    }
  }
  return batches;
}
