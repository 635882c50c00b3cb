/**
 * A key-value bucket as the cluster needs it: reads from the leader, time limits per key, compare-and-set, and writes
 * fenced by a lock. The stock client loses a key's time limit when it updates the key, so this speaks to the
 * bucket's stream itself; `nats kv` reads and writes the same keys.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { readSlot } from './bucket-read.ts';
import { followBucket } from './bucket-watch.ts';
import { storeWrite } from './bucket-write.ts';
import type { Connection } from './connect.ts';

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
  readonly storedAt: number; // epoch ms, by the server's clock
}

/** A key and the revision at which it must stand. */
export interface Fence {
  readonly key: string;
  readonly revision: number;
}

interface Limits {
  readonly ttlMs?: number | undefined;
  /** How long to try before giving up. */
  readonly limitMs?: number | undefined;
}

/** A write has one condition at most: on its own revision (0 = never written), or on a lock in the same bucket. */
export type PutOptions = Limits &
  (
    | { readonly expect?: number | undefined; readonly fence?: undefined }
    | { readonly expect?: undefined; readonly fence: Fence }
  );

/** `missed`: it went while we were not connected, and nobody knows how. */
export type ChangeReason = 'put' | 'deleted' | 'expired' | 'missed';

export interface Change {
  readonly key: string;
  readonly entry: Entry | undefined; // undefined: the key is gone
  readonly reason: ChangeReason;
}

/**
 * A conditional write throws CONFLICT when the condition did not hold, UNAVAILABLE when nothing was stored, and
 * TIMEOUT when nobody can tell. Writes to one key belong one after the other.
 */
export interface Bucket {
  readonly name: string;
  /** From the leader, so it is not older than the last write that was answered. */
  get(key: string): Promise<Entry | undefined>;
  list(filter: string): Promise<Entry[]>;
  /** The revision it got. */
  put(key: string, value: Uint8Array, options?: PutOptions): Promise<number>;
  /** Puts only where nothing is, or where only the marker of something removed or expired is. */
  create(key: string, value: Uint8Array, options?: Limits): Promise<number>;
  /** Removes the key and leaves a marker, for that long, by which watchers learn of it. */
  purge(
    key: string,
    options: { expect: number; markerTtlMs: number; limitMs?: number | undefined },
  ): Promise<void>;
  /**
   * Calls back with what is there, then with each change, until the signal aborts; reconnects by itself.
   * Resolves when what is there has been told. Changes that follow each other fast may be told as one.
   */
  watch(filter: string, listener: (change: Change) => void, signal: AbortSignal): Promise<void>;
}

/** Where a bucket's keys live. */
export interface BucketSite {
  readonly connection: Connection;
  readonly name: string;
  readonly stream: string;
  subjectOf(key: string): string;
  filterOf(filter: string): string;
  keyOf(subject: string): string;
}

/** What the leader holds under a key: an entry, only a marker, or nothing (revision 0). */
export interface Slot {
  readonly revision: number;
  readonly entry: Entry | undefined;
  readonly writeId: string;
}

const LIMIT_MS = 5_000;
/** A listing may have to wait for an election, which takes the servers up to ten seconds. */
const LIST_LIMIT_MS = 12_000;
const CREATE_TRIES = 3;
/** What `nats kv` allows in a key; a wildcard would read some other key. */
const KEY = /^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$/;

export function openBucket(connection: Connection, name: string): Bucket {
  const prefix = `$KV.${name}.`;
  const site: BucketSite = {
    connection,
    name,
    stream: `KV_${name}`,
    subjectOf(key) {
      if (!KEY.test(key)) throw new Failure('INVALID', `not a key of a bucket: ${JSON.stringify(key)}`);
      return prefix + key;
    },
    filterOf: (filter) => prefix + filter,
    keyOf: (subject) => subject.slice(prefix.length),
  };
  const read = (key: string, limitMs: number): Promise<Slot> => readSlot(site, key, limitMs);
  const get = async (key: string): Promise<Entry | undefined> => (await read(key, LIMIT_MS)).entry;

  return { name, get, list, put, create, purge, watch: (...args) => followBucket(site, get, ...args) };

  async function put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<number> {
    const { ttlMs, expect, fence, limitMs = LIMIT_MS } = options;
    const guard = expect === undefined ? fence : { key, revision: expect };
    return storeWrite(site, { key, bytes, ttlMs, guard, limitMs }, read);
  }

  async function create(key: string, bytes: Uint8Array, options: Limits = {}): Promise<number> {
    const { limitMs = LIMIT_MS } = options;
    const until = performance.now() + limitMs;
    let expect = 0;
    for (let left = CREATE_TRIES; ; left -= 1) {
      const leftMs = Math.max(1, until - performance.now());
      try {
        return await put(key, bytes, { ...options, expect, limitMs: leftMs });
      } catch (error) {
        if (!isConflict(error) || left === 1) throw error;
        const slot = await read(key, Math.max(1, until - performance.now()));
        if (slot.entry) throw error;
        expect = slot.revision;
      }
    }
  }

  async function purge(key: string, options: Parameters<Bucket['purge']>[1]): Promise<void> {
    const { expect, markerTtlMs: ttlMs, limitMs = LIMIT_MS } = options;
    const guard = { key, revision: expect };
    await storeWrite(site, { key, bytes: new Uint8Array(), ttlMs, guard, purge: true, limitMs }, read);
  }

  async function list(filter: string): Promise<Entry[]> {
    const entries = new Map<string, Entry>();
    const enough = new AbortController();
    const collect = ({ key, entry }: Change): void => {
      if (entry) entries.set(key, entry);
      else entries.delete(key);
    };
    try {
      const told = followBucket(site, get, filter, collect, enough.signal);
      const late = delay(LIST_LIMIT_MS, 'late' as const, { signal: enough.signal }).catch(() => undefined);
      if ((await Promise.race([told, late])) === 'late')
        throw new Failure('TIMEOUT', `bucket ${name} did not tell its keys ${filter} in ${LIST_LIMIT_MS} ms`);
    } finally {
      enough.abort();
    }
    if (connection.nc.isClosed()) throw new Failure('UNAVAILABLE', 'the connection to NATS is closed');
    return [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}

/** Whether a write failed because its condition did not hold. */
export function isConflict(error: unknown): boolean {
  return error instanceof Failure && error.code === 'CONFLICT';
}
