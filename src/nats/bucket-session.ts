/**
 * One session of a watcher: one consumer on the server, which tells the last value of each key of a bucket and then
 * every change, until the first doubt.
 */
import { createInbox, nanos, type Msg } from '@nats-io/nats-core';
import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { isUpWithin } from './ask.ts';
import type { BucketSite, Change, Entry } from './bucket.ts';
import { reasonOf } from './bucket-read.ts';
import { createTemporaryConsumer } from './temporary-consumer.ts';

/** Of every watcher, so they are many where nothing changes. */
const HEARTBEAT_MS = 10_000;
/** A heartbeat may be late by some seconds: a server or a loop that stalls for a moment is no reason to begin anew. */
const SILENCE_MAX_MS = 12_500;
/** Until all values have been told. */
export const PATIENCE_MAX_MS = 5_000;
const ABANDONED_MS = 10_000;

export interface SessionEvents {
  /** How long silence may last until all values have been told. */
  readonly patienceMs: number;
  readonly seen: Set<string>;
  onEntry(told: { entry: Entry; reason: Exclude<Change['reason'], 'missed'> }): void;
  /** All values that were there have been told. A session whose completion fails ends. */
  onComplete(seen: ReadonlySet<string>): Promise<void>;
}

/** Resolves when the session is over, for whatever reason; never throws. */
export async function runSession(
  site: BucketSite,
  filter: string,
  signal: AbortSignal,
  events: SessionEvents,
): Promise<void> {
  const { nc } = site.connection;
  const consumer = createTemporaryConsumer(site.connection, {
    stream: site.stream,
    kind: 'watch',
    abandonedMs: ABANDONED_MS,
  });
  const inbox = createInbox();
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  let isOver = false;
  let heardAt = performance.now();
  let delivered = 0;
  let complete = false;

  const subscription = nc.subscribe(inbox, { callback: (error, message) => (error ? end() : hear(message)) });
  const forget = site.connection.onChange((up) => {
    if (!up) end();
  });
  let watchdog = setTimeout(lookForSilence, events.patienceMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([over, open()]);
    await over;
  } catch {
    // The consumer could not be made, or the leader did not answer; the next session tries again.
  } finally {
    isOver = true;
    signal.removeEventListener('abort', end);
    clearTimeout(watchdog);
    forget();
    if (!nc.isClosed()) subscription.unsubscribe();
    consumer.remove();
  }

  /** Sleeps until silence would have lasted too long, instead of looking again and again: idle watchers are many. */
  function lookForSilence(): void {
    const leftMs = heardAt + (complete ? SILENCE_MAX_MS : events.patienceMs) - performance.now();
    if (leftMs <= 0) end();
    else watchdog = setTimeout(lookForSilence, Math.ceil(leftMs));
  }

  async function open(): Promise<void> {
    if (!(await isUpWithin(site.connection, events.patienceMs))) throw new Error('not connected');
    const { num_pending, delivered: sent } = await consumer.make({
      deliver_subject: inbox,
      deliver_policy: DeliverPolicy.LastPerSubject,
      ack_policy: AckPolicy.None,
      filter_subject: site.filterOf(filter),
      flow_control: true,
      idle_heartbeat: nanos(HEARTBEAT_MS),
    });
    // An answer that comes too late says nothing about the session after this one.
    if (!isOver && num_pending === 0 && sent.consumer_seq === 0) await finish();
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
