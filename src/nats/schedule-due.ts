/** What the server says is due, from the one consumer of all coordinators; and the submission that follows. */
import { headers as createHeaders, millis } from '@nats-io/nats-core';
import type { JsMsg } from '@nats-io/jetstream';
import { Failure, messageOf } from '../domain/failure.ts';
import { encode } from '../wire/codec.ts';
import type { DueMessage, RunSubmission } from '../wire/due.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import { createInProgress } from './in-progress.ts';

export interface ScheduleDue {
  /** Ends when the signal aborts; what was fetched but not handed out is given back. */
  messages(signal: AbortSignal): AsyncIterable<DueMessage>;
  /** One message of the intake. */
  submit(submission: RunSubmission): Promise<void>;
  close(): void;
}

const CONSUMER = 'coordinator';
const AHEAD = 16;
/**
 * A request that is lost with its server is noticed when two heartbeats are missing, and the client then asks again
 * at intervals as long as a request may live. By default it takes more than a minute for this.
 */
const PULL = { max_messages: AHEAD, expires: 3_000, idle_heartbeat: 1_000 };

export function createScheduleDue(connection: Connection, names: Names): ScheduleDue {
  const { js } = connection;
  const inProgress = createInProgress(connection);

  return {
    messages,
    async submit({ scraper, run, tasks, priority, notBefore }) {
      const headers = createHeaders();
      headers.set('Trawl-Priority', String(priority));
      if (notBefore !== undefined) headers.set('Trawl-Not-Before', String(notBefore));
      try {
        // The id only keeps the count of duplicates right when this is done twice: the ledger knows the tasks.
        await js.publish(names.submit(scraper, run), encode(tasks), { headers, msgID: run });
      } catch (cause) {
        throw new Failure('UNAVAILABLE', `the intake did not take the run ${run}: ${messageOf(cause)}`, {
          cause,
          hint: 'If the intake is full, wait until its runs have gone on.',
        });
      }
    },
    close: () => inProgress.close(),
  };

  async function* messages(signal: AbortSignal): AsyncGenerator<DueMessage, void, undefined> {
    const consumer = await js.consumers.get(names.stream('SCHEDULES'), CONSUMER);
    const { config } = await consumer.info(true);
    const leaseMs = millis(config.ack_wait ?? 0);
    const incoming = await consumer.consume({ ...PULL, abort_on_missing_resource: true });
    const end = (): void => incoming.stop();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      for await (const message of incoming) {
        if (signal.aborted) message.nak();
        else yield wrap(message, leaseMs);
      }
    } finally {
      signal.removeEventListener('abort', end);
      incoming.stop();
    }
  }

  function wrap(message: JsMsg, leaseMs: number): DueMessage {
    const held = inProgress.hold(message, leaseMs);
    return {
      name: message.subject.slice(names.due('').length),
      firedAt: message.time.getTime(),
      nextAt: Date.parse(message.headers?.get('Nats-Schedule-Next') ?? ''),
      ack() {
        held.letGo();
        message.ack();
      },
      giveBack(delayMs) {
        held.letGo();
        if (held.isHeld()) message.nak(delayMs);
      },
    };
  }
}
