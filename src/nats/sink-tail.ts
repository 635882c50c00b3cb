/**
 * The ledger as one sink reads it: a durable consumer of its own, named `sink-<name>`, which shows to everybody how far
 * the sink is, also while the sink is down. It acknowledges what is delivered; but it is the sink that knows where it
 * stands, so each session makes the consumer anew, behind that position.
 */
import { nanos } from '@nats-io/nats-core';
import { AckPolicy, DeliverPolicy, JetStreamApiError, type Consumer, type JsMsg } from '@nats-io/jetstream';
import { Failure, messageOf } from '../domain/failure.ts';
import { shortHash } from '../domain/task-id.ts';
import type { LedgerRecord } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import { decodeRecord } from '../wire/task-codec.ts';
import { isUpWithin } from './ask.ts';
import type { Connection } from './connect.ts';
import { pause, pull } from './ledger-session.ts';

export interface TailEntry {
  readonly seq: number;
  readonly subject: string;
  readonly bytes: number;
  readonly pending: number;
  readonly record?: LedgerRecord | undefined;
  readonly problem?: string | undefined;
  done(): void;
}

export interface TailPlace {
  readonly names: Names;
  readonly sink: string;
  readonly run?: string | undefined;
  /** What `readLedger` said. */
  readonly ledger: string;
  readonly after: number;
  readonly signal: AbortSignal;
}

const ANSWER_MS = 5_000;
const NAME_LENGTH = 12;
/** Nobody but the sink takes from it, and the sink makes it anew when in doubt. */
const ACK_WAIT_MS = 24 * 3_600_000;

export function consumerOf(sink: string): string {
  return `sink-${sink}`;
}

/** A name for the stream that the ledger is now: one that is made anew has another. Undefined when NATS does not answer. */
export async function readLedger(
  connection: Connection,
  { names, signal }: Pick<TailPlace, 'names' | 'signal'>,
): Promise<string | undefined> {
  const stream = names.stream('LEDGER');
  return unlessSilent(connection, { stream, signal }, () => nameOf(connection, stream));
}

async function nameOf({ jsm }: Connection, stream: string): Promise<string> {
  const { created } = await jsm.streams.info(stream);
  return shortHash(created).slice(0, NAME_LENGTH);
}

/**
 * Undefined when NATS does not answer, and when the ledger is another one by now. The entries end at the first doubt, and
 * when the signal aborts.
 */
export async function openTail(
  connection: Connection,
  place: TailPlace,
): Promise<{ pending: number; entries: AsyncGenerator<TailEntry, void, undefined> } | undefined> {
  const stream = place.names.stream('LEDGER');
  const name = consumerOf(place.sink);
  return unlessSilent(connection, { stream, signal: place.signal }, async () => {
    await removeConsumer(connection, stream, name);
    const info = await connection.jsm.consumers.add(stream, {
      durable_name: name,
      description: `What the sink ${place.sink} has not delivered yet`,
      ack_policy: AckPolicy.All,
      ack_wait: nanos(ACK_WAIT_MS),
      max_ack_pending: -1,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: place.after + 1,
      filter_subject: place.names.ledger(place.run ?? '*', '*'),
    });
    // From here on the consumer tells: it goes with its stream.
    if ((await nameOf(connection, stream)) !== place.ledger) return undefined;
    const consumer = connection.js.consumers.getConsumerFromInfo(info);
    return { pending: info.num_pending, entries: read(connection, consumer, place.signal) };
  });
}

async function unlessSilent<T>(
  connection: Connection,
  { stream, signal }: { readonly stream: string; readonly signal: AbortSignal },
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    if (!(await isUpWithin(connection, ANSWER_MS))) return undefined;
    return await ask();
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (error instanceof JetStreamApiError && error.status < 500)
      throw new Failure('REJECTED', `${stream} cannot be read: ${messageOf(error)}`, { cause: error });
    await pause(signal);
    return undefined;
  }
}

export async function removeConsumer({ jsm }: Connection, stream: string, name: string): Promise<void> {
  await jsm.consumers.delete(stream, name).catch((error: unknown) => {
    if (!(error instanceof JetStreamApiError && error.status === 404)) throw error;
  });
}

async function* read(
  connection: Connection,
  consumer: Consumer,
  signal: AbortSignal,
): AsyncGenerator<TailEntry, void, undefined> {
  let delivered = 0;
  while (!signal.aborted && connection.isUp()) {
    const messages = await pull(connection, consumer);
    const stop = (): void => messages.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (isAborted(signal)) stop();
    try {
      for await (const message of messages) {
        if (message.info.deliverySequence !== delivered + 1) return;
        delivered += 1;
        yield describe(message);
        if (isAborted(signal)) return;
      }
    } catch {
      // The server went silent, or somebody removed the consumer: the next session finds out.
      await pause(signal);
      return;
    } finally {
      signal.removeEventListener('abort', stop);
      messages.stop();
    }
  }
}

function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function describe(message: JsMsg): TailEntry {
  const { streamSequence: seq, pending } = message.info;
  const common = { seq, pending, subject: message.subject, done: () => message.ack() };
  try {
    const record = decodeRecord(message.data);
    const apart = record.state === 'done' ? (record.result.blob?.bytes ?? 0) : 0;
    return { ...common, record, bytes: message.data.length + apart };
  } catch (error) {
    return { ...common, problem: messageOf(error), bytes: message.data.length };
  }
}
