/**
 * A lock = a key with a time limit, which its holder renews. The key's revision is the fencing token: a write that
 * carries it is refused by the server once the lock has expired, was released or has a new holder, whatever the
 * writer still believes.
 *
 * The holder counts its own time from the moment it *sent* the last good renewal, on a clock that nobody sets, and
 * gives up before the server does. A process that slept through its limit finds out at the first `token()` or
 * `fencedPut()` after it wakes, or when its timer fires, whichever comes first.
 */
import { randomUUID } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import { keys } from '../wire/names.ts';
import { isConflict, type Bucket } from './bucket.ts';
import { holdLock, TRUST } from './held-lock.ts';

export interface LockOptions {
  readonly ttlMs: number; // the server counts in whole seconds, one at least
  readonly owner: string;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

export interface Lock {
  readonly name: string;
  /** The fencing token as of now; changes with each renewal. Throws CONFLICT when the lock is no longer held. */
  token(): number;
  /** Aborts when the lock is lost or must be taken for lost; not when it is released. */
  readonly lost: AbortSignal;
  /** Stores only while the lock is held; otherwise CONFLICT, by the server's word. */
  fencedPut(key: string, value: Uint8Array, options?: { readonly ttlMs?: number }): Promise<number>;
  /** Frees the lock if it is still ours. Never throws: what cannot be freed now expires. */
  release(): Promise<void>;
}

export interface Holder {
  readonly owner: string;
  readonly since: number; // epoch ms
  readonly term: string; // unlike that of every other time the lock was taken
}

const ACQUIRE_MAX_MS = 5_000;

/** The lock, or undefined when somebody else has it (`readHolder` tells who). */
export async function acquireLock(
  bucket: Bucket,
  name: string,
  options: LockOptions,
): Promise<Lock | undefined> {
  const now = options.now ?? (() => performance.now());
  const sentAt = now();
  const value = encodeJson({ owner: options.owner, since: Date.now(), term: randomUUID() } satisfies Holder);
  try {
    const limits = { ttlMs: options.ttlMs, limitMs: Math.min(options.ttlMs * TRUST, ACQUIRE_MAX_MS) };
    const revision = await bucket.create(keys.lock(name), value, limits);
    return holdLock(bucket, { name, value, ttlMs: options.ttlMs, now, revision, sentAt });
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
}

export async function readHolder(bucket: Bucket, name: string): Promise<Holder | undefined> {
  const entry = await bucket.get(keys.lock(name));
  return entry && (decode(entry.value) as Holder);
}

/** Runs `use` with the lock and releases it, also when `use` throws. CONFLICT when somebody else has it. */
export async function withLock<T>(
  bucket: Bucket,
  name: string,
  options: LockOptions,
  use: (lock: Lock) => Promise<T>,
): Promise<T> {
  const lock = await acquireLock(bucket, name, options);
  if (!lock) {
    const holder = await readHolder(bucket, name);
    throw new Failure('CONFLICT', `${name} is locked by ${holder?.owner ?? 'somebody who just let go'}`);
  }
  try {
    return await use(lock);
  } finally {
    await lock.release();
  }
}
