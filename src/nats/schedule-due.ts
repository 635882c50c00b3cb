/** What the server says is due, from the one consumer of all coordinators; and the submission that follows. */
import { headers as createHeaders } from '@nats-io/nats-core';
import type { JsMsg } from '@nats-io/jetstream';
import { Failure, messageOf } from '../domain/failure.ts';
import type { ScheduledTask } from '../policy/schedule-run.ts';
import { encode } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import { createInProgress } from './in-progress.ts';

/** In hand until it is acknowledged or given back. */
export interface DueMessage {
  readonly name: string;
  readonly firedAt: number; // epoch ms
  /** The time that the server plans next (epoch ms); NaN where it was not the server that fired. */
  readonly nextAt: number;
  ack(): void;
  giveBack(delayMs: number): void;
}

export interface RunSubmission {
  readonly scraper: string;
  readonly run: string;
  readonly tasks: readonly ScheduledTask[];
  readonly priority: number;
  readonly notBefore?: number; // epoch ms
}

export interface ScheduleDue {
  /** Ends when the signal aborts; what was fetched but not handed out is given back. */
  messages(signal: AbortSignal): AsyncIterable<DueMessage>;
  /** One message of the intake. */
  submit(submission: RunSubmission): Promise<void>;
  close(): void;
}

const CONSUMER = 'coordinator';
const AHEAD = 16;
const SIGN_OF_LIFE_MS = 20_000;

export function createScheduleDue({ js }: Connection, names: Names): ScheduleDue {
  const inProgress = createInProgress(SIGN_OF_LIFE_MS);

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
    const incoming = await consumer.consume({ max_messages: AHEAD, abort_on_missing_resource: true });
    const end = (): void => incoming.stop();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      for await (const message of incoming) {
        if (signal.aborted) message.nak();
        else yield wrap(message);
      }
    } finally {
      signal.removeEventListener('abort', end);
      incoming.stop();
    }
  }

  function wrap(message: JsMsg): DueMessage {
    const letGo = inProgress.hold(message);
    return {
      name: message.subject.slice(names.due('').length),
      firedAt: message.time.getTime(),
      nextAt: Date.parse(message.headers?.get('Nats-Schedule-Next') ?? ''),
      ack() {
        letGo();
        message.ack();
      },
      giveBack(delayMs) {
        letGo();
        message.nak(delayMs);
      },
    };
  }
}
