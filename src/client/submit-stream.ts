/**
 * Streams any number of tasks into the intake. What is under way is bounded by the publisher's window, so memory does
 * not grow with the list. A full intake is not an error at first: workers make room, so it is tried again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import type { Outgoing, Publisher, PublishOutcome } from '../nats/publisher.ts';
import { publishAll } from '../nats/publisher/all.ts';
import { DROP_TRACKING_HEADER } from '../wire/submission.ts';
import type { Chunk } from './pack-tasks.ts';

export interface Sent {
  /** Stored in the intake. */
  readonly tasks: number;
  readonly messages: number;
}

export interface SubmitProgress extends Sent {
  /** The intake is full, or does not answer: what was refused is tried again. */
  readonly waiting: boolean;
}

export interface SubmitStreamOptions {
  readonly subject: string;
  readonly priority?: number | undefined;
  readonly dropTracking?: boolean | undefined;
  /** How long nothing may be stored before it is an error. */
  readonly patienceMs?: number | undefined;
  readonly onProgress?: ((progress: SubmitProgress) => void) | undefined;
}

type Parcel = Outgoing & { readonly tasks: number };

const PATIENCE_MS = 60_000;
const WAIT_MIN_MS = 100;
const WAIT_MAX_MS = 2_000;
const REFUSED_FULL = 10_077;

export async function submitStream(
  publisher: Publisher,
  chunks: AsyncIterable<Chunk>,
  options: SubmitStreamOptions,
): Promise<Sent> {
  const { subject, patienceMs = PATIENCE_MS, onProgress } = options;
  const headers = headersOf(options);
  let sent: Sent = { tasks: 0, messages: 0 };
  let storedAtMs = performance.now();
  let refused: Parcel[] = [];
  let reason = '';
  let waitMs = WAIT_MIN_MS;

  await publishAll(publisher, parcels(), take);
  // What was refused after the last chunk had been handed over.
  while (refused.length > 0) await publishAll(publisher, again(), take);
  return sent;

  async function* parcels(): AsyncGenerator<Parcel, void, undefined> {
    for await (const { payload, tasks } of chunks) {
      // Nothing new is read while the intake refuses: only what is under way piles up, and that is bounded.
      while (refused.length > 0) {
        yield* again();
        await publisher.flush();
      }
      // The same chunk twice is harmless: the tasks in it are known by their ids.
      yield { subject, payload, tasks, repeatable: true, headers };
    }
  }

  async function* again(): AsyncGenerator<Parcel, void, undefined> {
    if (performance.now() - storedAtMs > patienceMs) throw stuck(reason, sent);
    onProgress?.({ ...sent, waiting: true });
    await delay(waitMs);
    waitMs = Math.min(waitMs * 2, WAIT_MAX_MS);
    const retried = refused;
    refused = [];
    yield* retried;
  }

  function take(parcel: Parcel, outcome: PublishOutcome): void {
    if (outcome.kind === 'stored') {
      sent = { tasks: sent.tasks + parcel.tasks, messages: sent.messages + 1 };
      storedAtMs = performance.now();
      waitMs = WAIT_MIN_MS;
      onProgress?.({ ...sent, waiting: refused.length > 0 });
      return;
    }
    if (outcome.kind === 'refused' && outcome.code !== REFUSED_FULL)
      throw new Failure('REJECTED', `the intake refused tasks: ${outcome.reason}`, {
        hint: `${sent.tasks} tasks are stored. \`trawl doctor\` checks the cluster.`,
      });
    reason = outcome.reason;
    refused.push(parcel);
  }
}

function headersOf({ priority, dropTracking }: SubmitStreamOptions): Readonly<Record<string, string>> {
  return {
    ...(priority !== undefined && { 'Trawl-Priority': String(priority) }),
    ...(dropTracking === true && { [DROP_TRACKING_HEADER]: 'true' }),
  };
}

function stuck(reason: string, { tasks }: Sent): Failure {
  const stored = `${tasks} tasks are stored`;
  return new Failure('THROTTLED', `the intake takes no more tasks (${reason}); ${stored}`, {
    hint:
      'See that coordinators and workers run (`trawl status`), or raise max_bytes of INTAKE. ' +
      'Submit the same list to the same run afterwards: what is stored already is recognised.',
  });
}
