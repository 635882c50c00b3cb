/** One reading of a run's records on the server: a consumer without acknowledgements, and where its end is. */
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type Consumer,
  type ConsumerMessages,
} from '@nats-io/jetstream';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure, messageOf } from '../domain/failure.ts';
import { isUpWithin } from './ask.ts';
import type { Connection } from './connect.ts';
import { createTemporaryConsumer } from './temporary-consumer.ts';

export interface Session {
  readonly consumer: Consumer;
  close(): void;
}

/** The most that one batch may hold in memory, if all its records are as large as the server allows. */
const BATCH_BYTES = 64 * 1024 * 1024;
const BATCH_MESSAGES = { min: 8, max: 200 };
const PULL_MS = 5_000;
const ABANDONED_MS = 30_000;
const RETRY_MS = 250;

/** Not by bytes: the client takes the end of such a batch for an error. */
export function pull(connection: Connection, consumer: Consumer): Promise<ConsumerMessages> {
  const largest = connection.nc.info?.max_payload ?? BATCH_BYTES;
  const fitting = Math.floor(BATCH_BYTES / largest);
  return consumer.fetch({
    max_messages: Math.min(Math.max(fitting, BATCH_MESSAGES.min), BATCH_MESSAGES.max),
    expires: PULL_MS,
  });
}

/** Undefined when the server did not answer: the caller tries again. */
export async function openSession(
  connection: Connection,
  place: { stream: string; filter: string; after: number; signal: AbortSignal },
): Promise<Session | undefined> {
  const { stream } = place;
  const temporary = createTemporaryConsumer(connection, {
    stream,
    kind: 'follow',
    abandonedMs: ABANDONED_MS,
  });
  try {
    if (!(await isUpWithin(connection, PULL_MS))) {
      temporary.remove();
      return undefined;
    }
    const info = await temporary.make({
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: place.after + 1,
      filter_subject: place.filter,
    });
    return {
      consumer: connection.js.consumers.getConsumerFromInfo(info),
      close: () => temporary.remove(),
    };
  } catch (error) {
    temporary.remove();
    await refuseOrWait(error, stream, place.signal);
    return undefined;
  }
}

/** The sequence of the newest record of the run; 0 when there is none. */
export async function readLastSequence(
  connection: Connection,
  { stream, filter, signal }: { stream: string; filter: string; signal: AbortSignal },
): Promise<number> {
  while (!signal.aborted) {
    try {
      if (await isUpWithin(connection, PULL_MS)) {
        const message = await connection.jsm.streams.getMessage(stream, { last_by_subj: filter });
        return message?.seq ?? 0;
      }
    } catch (error) {
      await refuseOrWait(error, stream, signal);
    }
  }
  return 0;
}

/** An answer that says no is final; silence is not. */
async function refuseOrWait(error: unknown, stream: string, signal: AbortSignal): Promise<void> {
  if (error instanceof Failure) throw error;
  if (error instanceof JetStreamApiError && error.status < 500)
    throw new Failure('REJECTED', `${stream} cannot be read: ${messageOf(error)}`, {
      cause: error,
      hint: '`trawl topology diff` shows what is missing.',
    });
  await pause(signal);
}

/** Between two tries. */
export async function pause(signal: AbortSignal): Promise<void> {
  await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
}
