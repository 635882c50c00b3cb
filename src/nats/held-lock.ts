/** The holding of a lock: renewals, the clock, fenced writes and the release. `lock.ts` says what it promises. */
import { Failure } from '../domain/failure.ts';
import { keys } from '../wire/names.ts';
import { isConflict, type Bucket } from './bucket.ts';
import type { Lock } from './lock.ts';

export interface Holding {
  readonly name: string;
  readonly value: Uint8Array; // unique to this holding
  readonly ttlMs: number;
  readonly now: () => number;
  readonly revision: number;
  readonly sentAt: number;
}

/** A holder stops acting after this part of the time limit without a good renewal. */
export const TRUST = 0.8;
const RENEWALS_PER_TTL = 3;
const RETRIES_PER_TTL = 10;
const RETRY_MAX_MS = 1_000;
const TRY_MAX_MS = 2_000;
const FENCED_TRIES = 3;
/** Long enough for watchers to see that the lock is free; one that misses it asks anyway. */
const MARKER_MS = 5_000;

export function holdLock(bucket: Bucket, { name, value, ttlMs, now, revision, sentAt }: Holding): Lock {
  const key = keys.lock(name);
  const lost = new AbortController();
  let current = revision;
  let goodSince = sentAt;
  let released = false;
  let renewing: Promise<void> | undefined;
  let renewTimer = setTimeout(() => void renew(), ttlMs / RENEWALS_PER_TTL);
  let limitTimer = setTimeout(checkAgain, ttlMs * TRUST);

  return { name, token, lost: lost.signal, fencedPut, release };

  function leftMs(): number {
    return goodSince + ttlMs * TRUST - now();
  }

  /** Whether we may still act, by the clock. */
  function check(): boolean {
    if (leftMs() <= 0) lose(`it was not renewed for ${ttlMs * TRUST} ms`);
    return !lost.signal.aborted && !released;
  }

  function checkAgain(): void {
    if (check()) limitTimer = setTimeout(checkAgain, leftMs());
  }

  function stopTimers(): void {
    clearTimeout(renewTimer);
    clearTimeout(limitTimer);
  }

  function lose(why: string): void {
    stopTimers();
    if (!released) lost.abort(new Failure('CONFLICT', `lost the lock ${name}: ${why}`));
  }

  function token(): number {
    if (check()) return current;
    if (released) throw new Failure('CONFLICT', `the lock ${name} was released`);
    throw lost.signal.reason as Failure;
  }

  /** One renewal at a time. After a wake-up the clock is asked before the server is. */
  function renew(): Promise<void> {
    clearTimeout(renewTimer);
    if (!check()) return Promise.resolve();
    renewing ??= renewOnce().then((renewed) => {
      renewing = undefined;
      const waitMs = renewed ? ttlMs / RENEWALS_PER_TTL : Math.min(ttlMs / RETRIES_PER_TTL, RETRY_MAX_MS);
      if (check()) renewTimer = setTimeout(() => void renew(), waitMs);
    });
    return renewing;
  }

  async function renewOnce(): Promise<boolean> {
    const renewedAt = now();
    try {
      current = await bucket.put(key, value, { ttlMs, expect: current, limitMs: tryMs() });
      goodSince = renewedAt;
      clearTimeout(limitTimer);
      if (check()) limitTimer = setTimeout(checkAgain, leftMs());
      return true;
    } catch (error) {
      if (isConflict(error)) await findOutWhoHasIt();
      return false; // when nobody answered, the clock decides
    }
  }

  /** A renewal of ours that nobody answered may have been stored after all: then the new token is ours too. */
  async function findOutWhoHasIt(): Promise<void> {
    try {
      const entry = await bucket.get(key);
      if (!entry) lose('it expired');
      else if (Buffer.compare(entry.value, value) !== 0) lose('somebody else has it');
      else current = entry.revision;
    } catch {
      // No answer: the clock decides.
    }
  }

  function tryMs(): number {
    return Math.min(TRY_MAX_MS, Math.max(1, leftMs()));
  }

  /**
   * The server takes the messages of one connection in order, so a write sent before a renewal is judged before it;
   * one that comes later waits for the renewal's token. A reconnect can turn that round, hence the tries. Before
   * another try comes a renewal: it tells whether the lock is still ours, and its new token refuses a copy
   * that may still be under way, so that no late copy undoes a later write.
   */
  async function fencedPut(
    target: string,
    bytes: Uint8Array,
    options: { readonly ttlMs?: number } = {},
  ): Promise<number> {
    for (let left = FENCED_TRIES; ; left -= 1) {
      await renewing;
      const fence = { key, revision: token() };
      try {
        return await bucket.put(target, bytes, { ttlMs: options.ttlMs, fence, limitMs: tryMs() });
      } catch (error) {
        if (!isConflict(error) && !isTimeout(error)) throw error;
        await renew();
        if (left === 1 || lost.signal.aborted || current === fence.revision) throw error;
      }
    }
  }

  async function release(): Promise<void> {
    const held = check();
    released = true;
    stopTimers();
    await renewing;
    if (!held || lost.signal.aborted) return;
    // Refused: it is someone else's by now. Unanswered: it expires.
    await bucket
      .purge(key, { expect: current, markerTtlMs: MARKER_MS, limitMs: TRY_MAX_MS })
      .catch(() => undefined);
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Failure && error.code === 'TIMEOUT';
}
