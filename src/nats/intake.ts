/**
 * The intake as the coordinators read it. What was submitted without a run in its subject has one consumer for all of
 * them; each run that is fed has one of its own, made by whoever needs it first. So the messages of a run that waits
 * its turn, or is paused, lie in the stream untouched.
 */
import { AckPolicy, DeliverPolicy, JetStreamApiError, type JsMsg } from '@nats-io/jetstream';
import { millis } from '@nats-io/nats-core';
import { isRunId } from '../domain/run-id.ts';
import { shortHash } from '../domain/task-id.ts';
import type { Intake, IntakeMessage, IntakeSource } from '../wire/intake.ts';
import type { Names } from '../wire/names.ts';
import type { SubmissionLimits } from '../wire/submission-fields.ts';
import type { Connection } from './connect.ts';
import { createInProgress } from './in-progress.ts';
import { createIntakeMessage } from './intake-message.ts';
import { createResubmit } from './resubmit.ts';

export interface IntakeOptions {
  readonly names: Names;
  readonly limits: SubmissionLimits;
}

const AHEAD = 16;
/**
 * A request that is lost with its server is noticed when two heartbeats are missing, and the client then asks again
 * at intervals as long as a request may live. By default it takes more than a minute for this.
 */
const PULL = { max_messages: AHEAD, expires: 3_000, idle_heartbeat: 1_000 };
const SHARED = 'coordinator';
const NO_CONSUMER = 10_014;

export function createIntake(
  connection: Connection,
  { names, limits }: IntakeOptions,
): Intake & { close(): void } {
  const { js, jsm } = connection;
  const stream = names.stream('INTAKE');
  const inProgress = createInProgress(connection);
  const resubmit = createResubmit(connection, names);

  return {
    messages,
    forward: (tasks, to) => resubmit.tasks(tasks, to),
    lastSeq: async () => (await jsm.streams.info(stream)).state.last_seq,
    async openByRun() {
      const found = await subjects(names.submit('*', '*'));
      return [...found].map(([subject, messages]) => ({ ...placeOf(subject), messages }));
    },
    async openOf(run) {
      const found = await subjects(names.submit('*', run));
      return [...found].reduce((sum, [, messages]) => sum + messages, 0);
    },
    async forget(run) {
      await jsm.consumers.delete(stream, consumerOf(run)).catch((error: unknown) => {
        if (!(error instanceof JetStreamApiError) || error.code !== NO_CONSUMER) throw error;
      });
    },
    async remembered() {
      const runs: string[] = [];
      for await (const { name, config } of jsm.consumers.list(stream))
        if (name !== SHARED) runs.push(placeOf(config.filter_subject ?? '').run);
      return runs;
    },
    close: () => inProgress.close(),
  };

  async function* messages(
    { run }: IntakeSource,
    signal: AbortSignal,
  ): AsyncGenerator<IntakeMessage, void, undefined> {
    const isOver = (): boolean => signal.aborted;
    if (run !== undefined) await remember(run);
    if (isOver()) return;
    const consumer = await js.consumers.get(stream, run === undefined ? SHARED : consumerOf(run));
    const { config } = await consumer.info(true);
    const leaseMs = millis(config.ack_wait ?? 0);
    const incoming = await consumer.consume({ ...PULL, abort_on_missing_resource: true });
    const end = (): void => incoming.stop();
    signal.addEventListener('abort', end, { once: true });
    if (isOver()) end();
    try {
      for await (const message of incoming) {
        if (isOver()) message.nak();
        else yield wrap(message, leaseMs);
      }
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  async function remember(run: string): Promise<void> {
    const { config } = await jsm.consumers.info(stream, SHARED);
    await jsm.consumers.add(stream, {
      durable_name: consumerOf(run),
      description: `Submissions of run ${run}`,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      filter_subject: names.submit('*', run),
      // What a lease is is said once, in the definition of the consumer that all of them share.
      ...(config.ack_wait !== undefined && { ack_wait: config.ack_wait }),
      max_deliver: -1,
      max_ack_pending: 1_000,
    });
  }

  function wrap(message: JsMsg, leaseMs: number): IntakeMessage {
    return createIntakeMessage(message, {
      place: placeOf(message.subject),
      limits,
      held: inProgress.hold(message, leaseMs),
      forward: (to) => resubmit.whole(message, to),
    });
  }

  async function subjects(filter: string): Promise<Map<string, number>> {
    const { state } = await jsm.streams.info(stream, { subjects_filter: filter });
    return new Map(Object.entries(state.subjects ?? {}));
  }

  function placeOf(subject: string): { scraper: string; run: string } {
    const [, , scraper = '', run = ''] = subject.split('.');
    return { scraper, run };
  }
}

/** A name that no consumer may have still gets one: what was sent there must not lie for ever. */
function consumerOf(run: string): string {
  return isRunId(run) ? `run_${run}` : `odd_${shortHash(run)}`;
}
