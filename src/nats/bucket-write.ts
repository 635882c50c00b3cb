/**
 * One write to a bucket, finished: stored, refused, or honestly unknown.
 *
 * A write that nobody answers may have been stored, or may be stored later. So each write carries an id; after
 * silence the key is read from the leader, and the id there tells whether the write is ours. Only then is it sent
 * again, with the same condition and the same id: if the first copy arrives in between, the second is refused
 * and the id shows why. A write guarded by another key (a lock) is not sent again here: its first copy could arrive
 * even after a later write, because nothing in its own key refuses it. The lock's holder can renew, which refuses it.
 */
import { headers, nuid } from '@nats-io/nats-core';
import { JetStreamApiCodes, PubHeaders } from '@nats-io/jetstream';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { ask } from './ask.ts';
import type { BucketSite, Fence, Slot } from './bucket.ts';

export interface Write {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly ttlMs?: number | undefined;
  /** The write counts only while this key (its own, or a lock) stands at this revision. */
  readonly guard?: Fence | undefined;
  /** Replaces the value by a marker that says it was removed. */
  readonly purge?: boolean;
  readonly limitMs: number;
}

export const WRITE_ID_HEADER = 'Trawl-Write';
const ANSWER_MAX_MS = 2_000;
const PAUSE_MS = 100;
const REFUSALS = new Set<number>([
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
]);

interface StoreReply {
  readonly seq?: number;
  readonly error?: { readonly code: number; readonly err_code: number; readonly description: string };
}

export async function storeWrite(
  site: BucketSite,
  write: Write,
  read: (key: string, limitMs: number) => Promise<Slot>,
): Promise<number> {
  const id = nuid.next();
  const question = { subject: site.subjectOf(write.key), payload: write.bytes, headers: headersOf() };
  const until = performance.now() + write.limitMs;
  // A short limit still leaves room to ask again after one lost answer.
  const answerMs = Math.min(ANSWER_MAX_MS, Math.max(1, write.limitMs / 3));
  let inDoubt = false;
  let reason = 'no answer';

  for (;;) {
    const answer = await ask(site.connection, { ...question, limitMs: answerMs });
    if (answer.kind === 'reply') {
      const { seq, error } = answer.message.json<StoreReply>();
      if (!error && seq !== undefined) return seq;
      if (error && REFUSALS.has(error.err_code)) return await settleRefusal();
      if (error && error.code < 500) throw rejected(error.description);
      reason = error?.description ?? 'an answer that is none';
    }
    if (answer.kind === 'silence') {
      inDoubt = true;
      const revision = await settleSilence();
      if (revision !== undefined) return revision;
    }
    if (performance.now() + PAUSE_MS >= until) throw gaveUp();
    await delay(PAUSE_MS * (0.5 + Math.random() / 2));
  }

  function headersOf(): ReturnType<typeof headers> {
    const set = headers();
    set.set(WRITE_ID_HEADER, id);
    if (write.ttlMs !== undefined) set.set(PubHeaders.MessageTTL, ttlText(write.ttlMs));
    if (write.guard) {
      set.set(PubHeaders.ExpectedLastSubjectSequenceHdr, String(write.guard.revision));
      if (write.guard.key !== write.key)
        set.set(PubHeaders.ExpectedLastSubjectSequenceSubjectHdr, site.subjectOf(write.guard.key));
    }
    if (write.purge) {
      set.set('KV-Operation', 'PURGE');
      set.set('Nats-Rollup', 'sub');
    }
    return set;
  }

  /** Refused, or refused because an earlier copy of this very write had already won. */
  async function settleRefusal(): Promise<number> {
    if (!inDoubt) throw conflict();
    const slot = await readInDoubt();
    if (slot.writeId !== id) throw conflict();
    return slot.revision;
  }

  /** The revision, when the unanswered write turns out to be stored; undefined when it may be sent again. */
  async function settleSilence(): Promise<number | undefined> {
    const slot = await readInDoubt();
    if (slot.writeId === id) return slot.revision;
    if (!write.guard) return undefined;
    if (write.guard.key !== write.key) throw gaveUp();
    if (slot.revision !== write.guard.revision) throw conflict();
    return undefined;
  }

  function readInDoubt(): Promise<Slot> {
    return read(write.key, leftMs()).catch((error: unknown) => {
      throw gaveUp(error);
    });
  }

  function leftMs(): number {
    return Math.max(1, until - performance.now());
  }

  function conflict(): Failure {
    const { guard, key } = write;
    const what = guard && guard.key !== key ? `${guard.key}, which guards ${key},` : key;
    return new Failure('CONFLICT', `${what} in bucket ${site.name} was changed by someone else`);
  }

  function rejected(text: string): Failure {
    return new Failure(
      'REJECTED',
      `the server refused to store ${write.key} in bucket ${site.name}: ${text}`,
    );
  }

  function gaveUp(cause?: unknown): Failure {
    return inDoubt
      ? new Failure('TIMEOUT', `it is not known whether ${write.key} was stored in bucket ${site.name}`, {
          cause,
        })
      : new Failure('UNAVAILABLE', `${write.key} could not be stored in bucket ${site.name}: ${reason}`, {
          hint: `Check that NATS is reachable and has the stream ${site.stream}, with room in it.`,
        });
  }
}

/** The server keeps time limits in whole seconds, one at least; rounding up never ends a claim early. */
function ttlText(ttlMs: number): string {
  return `${Math.max(1, Math.ceil(ttlMs / 1_000))}s`;
}
