/** One delivery of the intake, as the coordinator sees it. */
import { Match } from '@nats-io/nats-core';
import type { JsMsg } from '@nats-io/jetstream';
import { isRunId } from '../domain/run-id.ts';
import type { IntakeMessage } from '../wire/intake.ts';
import type { SubmissionLimits } from '../wire/submission-fields.ts';
import { parseSubmission } from '../wire/submission.ts';
import type { Held } from './in-progress.ts';

export interface MessageParts {
  readonly place: { readonly scraper: string; readonly run: string };
  readonly limits: SubmissionLimits;
  readonly held: Held;
  readonly forward: (run: string) => Promise<void>;
}

const RUN_HEADER = 'Trawl-Run';
/** When the tasks were submitted, for those that were accepted before their message was taken in. */
export const AT_HEADER = 'Trawl-At';

export function createIntakeMessage(message: JsMsg, parts: MessageParts): IntakeMessage {
  const { place, limits, held } = parts;
  const { streamSequence, timestampNanos, pending } = message.info;
  const run = place.run === '' ? undefined : place.run;
  const header = (name: string): string | undefined => message.headers?.get(name, Match.IgnoreCase);
  const at = timeOf(header(AT_HEADER)) ?? Math.floor(timestampNanos / 1_000_000);
  const headerRun = run === undefined ? header(RUN_HEADER)?.trim() : undefined;
  return {
    seq: streamSequence,
    at,
    bytes: message.data.length,
    behind: pending,
    scraper: place.scraper,
    ...(run !== undefined && { run }),
    // One that cannot be a run's name makes the message a problem of the scraper's standing run.
    ...(headerRun !== undefined && isRunId(headerRun) && isRunId(place.scraper) && { headerRun }),
    parse: () =>
      parseSubmission({
        subject: { scraper: place.scraper, ...(run !== undefined && { run }) },
        headers: header,
        data: message.data,
        now: at,
        limits,
      }),
    forwardWhole: parts.forward,
    isHeld: () => held.isHeld(),
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

function timeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{13}$/.test(text) ? Number(text) : undefined;
}
