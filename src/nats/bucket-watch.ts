/**
 * Following the keys of a bucket through everything that can interrupt it.
 *
 * One session = one consumer on the server, which tells the last value of each key and then every change. A session
 * ends at the first doubt (connection gone, message missing, no heartbeat) and a new one starts from the values
 * again. What the listener already knows is not told twice, and what it knows but the new session does not tell
 * went in between, perhaps so long ago that its marker is gone as well: that is asked of the leader, then told.
 *
 * While servers elect a leader a request for a consumer may stay without an answer for good, or the consumer may be
 * given to the server that is gone. So a session that has not told its values yet has little patience, and the next
 * one a little more: a server that is only slow gets its time too.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BucketSite, Change, Entry } from './bucket.ts';
import { PATIENCE_MAX_MS, runSession } from './bucket-session.ts';

type Listener = (change: Change) => void;

const FIRST_PATIENCE_MS = 1_000;
const PATIENCE_GROWTH = 1.5;
const RETRY_MS = 250;

export async function followBucket(
  site: BucketSite,
  get: (key: string) => Promise<Entry | undefined>,
  filter: string,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  /** Keys that the listener holds, at the revision it was told. */
  const known = new Map<string, number>();
  const tell = (change: Change): void => {
    if (change.entry) known.set(change.key, change.entry.revision);
    else known.delete(change.key);
    try {
      listener(change);
    } catch (error) {
      // Thrown here it would break the connection's reader; the fault is the listener's alone.
      queueMicrotask(() => {
        throw error;
      });
    }
  };
  return new Promise((resolve) => {
    void followOn(resolve);
  });

  async function followOn(told: () => void): Promise<void> {
    let nextPatienceMs = FIRST_PATIENCE_MS;
    // Who closed the connection for good knows; nothing is left to follow.
    while (!signal.aborted && !site.connection.nc.isClosed()) {
      const patienceMs = nextPatienceMs;
      nextPatienceMs = Math.min(PATIENCE_MAX_MS, patienceMs * PATIENCE_GROWTH);
      await runSession(site, filter, signal, {
        patienceMs,
        seen: new Set(),
        onEntry({ entry, reason }) {
          if (reason === 'put' && known.get(entry.key) !== entry.revision)
            tell({ key: entry.key, entry, reason });
          if (reason !== 'put' && known.has(entry.key)) tell({ key: entry.key, entry: undefined, reason });
        },
        async onComplete(seen) {
          for (const key of [...known.keys()].filter((key) => !seen.has(key))) await recheck(key);
          told();
          nextPatienceMs = FIRST_PATIENCE_MS;
        },
      });
      await delay(RETRY_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
    told();
  }

  async function recheck(key: string): Promise<void> {
    const before = known.get(key);
    const entry = await get(key);
    if (signal.aborted || known.get(key) !== before) return;
    if (entry?.revision === before) return;
    tell(entry ? { key, entry, reason: 'put' } : { key, entry: undefined, reason: 'missed' });
  }
}
