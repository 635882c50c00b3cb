/**
 * Following the keys of a bucket through everything that can interrupt it.
 *
 * One session = one consumer on the server, which tells the last value of each key and then every change. A session
 * ends at the first doubt (connection gone, message missing, no heartbeat) and a new one starts from the values
 * again. What the listener already knows is not told twice, and what it knows but the new session does not tell
 * went in between, perhaps so long ago that its marker is gone as well: that is asked of the leader, then told.
 */
import { createInbox, nanos, nuid, type Msg } from '@nats-io/nats-core';
import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { setTimeout as delay } from 'node:timers/promises';
import { isUpWithin } from './ask.ts';
import type { BucketSite, Change, Entry } from './bucket.ts';
import { reasonOf } from './bucket-read.ts';

type Listener = (change: Change) => void;

const HEARTBEAT_MS = 2_000;
const SILENCE_MAX_MS = 2.5 * HEARTBEAT_MS;
const ABANDONED_MS = 10_000;
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
    // Who closed the connection for good knows; nothing is left to follow.
    while (!signal.aborted && !site.connection.nc.isClosed()) {
      await runSession(site, filter, signal, {
        seen: new Set(),
        onEntry({ entry, reason }) {
          if (reason === 'put' && known.get(entry.key) !== entry.revision)
            tell({ key: entry.key, entry, reason });
          if (reason !== 'put' && known.has(entry.key)) tell({ key: entry.key, entry: undefined, reason });
        },
        async onComplete(seen) {
          for (const key of [...known.keys()].filter((key) => !seen.has(key))) await recheck(key);
          told();
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

interface SessionEvents {
  readonly seen: Set<string>;
  onEntry(told: { entry: Entry; reason: Exclude<Change['reason'], 'missed'> }): void;
  /** All values that were there have been told. A session whose completion fails ends. */
  onComplete(seen: ReadonlySet<string>): Promise<void>;
}

/** Resolves when the session is over, for whatever reason; never throws. */
async function runSession(
  site: BucketSite,
  filter: string,
  signal: AbortSignal,
  events: SessionEvents,
): Promise<void> {
  const { nc, jsm } = site.connection;
  const name = `watch-${nuid.next()}`;
  const inbox = createInbox();
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  let heardAt = performance.now();
  let delivered = 0;
  let complete = false;

  const subscription = nc.subscribe(inbox, { callback: (error, message) => (error ? end() : hear(message)) });
  const forget = site.connection.onChange((up) => {
    if (!up) end();
  });
  const watchdog = setInterval(() => {
    if (performance.now() - heardAt > SILENCE_MAX_MS) end();
  }, HEARTBEAT_MS / 2);
  signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([over, open()]);
    await over;
  } catch {
    // The consumer could not be made, or the leader did not answer; the next session tries again.
  } finally {
    signal.removeEventListener('abort', end);
    clearInterval(watchdog);
    forget();
    if (!nc.isClosed()) {
      subscription.unsubscribe();
      // Without an answer: an abandoned consumer also ends by itself.
      nc.publish(`${site.connection.js.apiPrefix}.CONSUMER.DELETE.${site.stream}.${name}`);
    }
  }

  async function open(): Promise<void> {
    if (!(await isUpWithin(site.connection, SILENCE_MAX_MS))) throw new Error('not connected');
    const { num_pending, delivered: sent } = await jsm.consumers.add(site.stream, {
      name,
      deliver_subject: inbox,
      deliver_policy: DeliverPolicy.LastPerSubject,
      ack_policy: AckPolicy.None,
      filter_subject: site.filterOf(filter),
      flow_control: true,
      idle_heartbeat: nanos(HEARTBEAT_MS),
      inactive_threshold: nanos(ABANDONED_MS),
      mem_storage: true,
      num_replicas: 1,
    });
    if (num_pending === 0 && sent.consumer_seq === 0) await finish();
  }

  function hear(message: Msg): void {
    heardAt = performance.now();
    const status = message.headers?.code ?? 0;
    if (status === 100) {
      answerControl(message);
      return;
    }
    const place = parsePlace(message.reply);
    if (!place || place.delivery !== delivered + 1) {
      end();
      return;
    }
    delivered = place.delivery;
    const key = site.keyOf(message.subject);
    events.seen.add(key);
    const entry = { key, value: message.data, revision: place.revision, storedAt: place.storedAt };
    events.onEntry({ entry, reason: reasonOf(message.headers) });
    if (place.pending === 0) finish().catch(end);
  }

  /** Heartbeats tell how much was sent, so that a lost last message is noticed too; flow control wants an echo. */
  function answerControl(message: Msg): void {
    const last = message.headers?.get('Nats-Last-Consumer') ?? '';
    if (last !== '' && Number(last) !== delivered) end();
    // Idle means all was told, also when the last values expired before their turn.
    else if (last !== '') finish().catch(end);
    const stalled = message.headers?.get('Nats-Consumer-Stalled') ?? '';
    if (message.reply) message.respond();
    else if (stalled !== '') nc.publish(stalled);
  }

  async function finish(): Promise<void> {
    if (complete) return;
    complete = true;
    await events.onComplete(events.seen);
  }
}

interface Place {
  readonly revision: number;
  readonly delivery: number;
  readonly storedAt: number;
  readonly pending: number;
}

/** A delivered message tells its place in its reply subject: `$JS.ACK.….<revision>.<delivery>.<time>.<pending>`. */
function parsePlace(reply: string | undefined): Place | undefined {
  const tokens = reply?.split('.') ?? [];
  // The long form has a domain and an account before the stream, and may have a random token at the end.
  const at = tokens.length === 9 ? 5 : 7;
  const [revision, delivery, nanoseconds, pending] = tokens.slice(at, at + 4).map(Number);
  if (revision === undefined || delivery === undefined || nanoseconds === undefined || pending === undefined)
    return undefined;
  return { revision, delivery, storedAt: Math.floor(nanoseconds / 1e6), pending };
}
