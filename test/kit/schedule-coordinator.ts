/** Coordinators that do nothing but keep schedules, on a real server; nobody takes in what they submit. */
import { createScheduleLoop, type ScheduleLoop } from '../../src/actors/coordinator/schedule-loop.ts';
import type { ScheduleNews } from '../../src/actors/coordinator/schedule-ports.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import type { Connection } from '../../src/nats/connect.ts';
import type { Verb } from '../../src/nats/mailbox.ts';
import { createRuns, type Runs } from '../../src/nats/runs.ts';
import { createScheduleDue } from '../../src/nats/schedule-due.ts';
import { createSchedules, type Schedules } from '../../src/nats/schedules.ts';
import { createScheduleServices } from '../../src/services/schedules.ts';
import type { RunSubmission } from '../../src/wire/due.ts';
import { createNames } from '../../src/wire/names.ts';
import { parseSubmission, type ParsedSubmission } from '../../src/wire/submission.ts';
import { SUBMISSION_LIMITS } from '../../src/wire/submission-fields.ts';
import { quietLog, type Teardown, type TestServer } from './nats-server.ts';

export const names = createNames('trawl');

export interface ScheduleCoordinator {
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly schedules: Schedules;
  readonly runs: Runs;
  readonly loop: ScheduleLoop;
  readonly news: readonly ScheduleNews[];
  /** The first news, past or to come, that fit. */
  heard(fits: (news: readonly ScheduleNews[]) => boolean): Promise<void>;
  ask(verb: string, body?: object): Promise<Record<string, unknown>>;
  /** Takes what is due until the end of the test. */
  start(): () => Promise<void>;
}

export async function makeStreams(connection: Connection, ackWaitMs = 60_000): Promise<void> {
  const nats = { replicas: 1 } as Parameters<typeof planCluster>[0]['nats'];
  const plan = planCluster({ namespace: 'trawl', nats });
  const consumers = plan.consumers
    .filter(({ stream }) => stream === 'SCHEDULES')
    .map((consumer) => ({
      ...consumer,
      settings: { ...consumer.settings, ack_wait: ackWaitMs * 1_000_000 },
    }));
  await applyTopology(connection, { ...plan, consumers }, { onDrift: 'keep' });
}

export async function createScheduleCoordinator(
  t: Teardown,
  server: TestServer,
  onSubmit: (
    submit: () => Promise<void>,
    submission: RunSubmission,
    connection: Connection,
  ) => Promise<void> = (submit) => submit(),
): Promise<ScheduleCoordinator> {
  const connection = await server.connect();
  const bucket = openBucket(connection, names.bucket('cluster'));
  const schedules = createSchedules(connection, { bucket, names });
  const runs = createRuns(bucket, { log: quietLog });
  const due = createScheduleDue(connection, names);
  t.teardown(() => due.close());
  const news: ScheduleNews[] = [];
  const waiting = new Set<() => void>();
  const loop = createScheduleLoop({
    schedules,
    dueMessages: (signal) => due.messages(signal),
    submit: (submission) => onSubmit(() => due.submit(submission), submission, connection),
    runs,
    announce(about) {
      news.push(about);
      for (const look of waiting) look();
    },
    now: Date.now,
    random: Math.random,
    log: quietLog,
  });
  const messageMaxBytes = (): number => connection.nc.info?.max_payload ?? 0;
  const verbs: Record<string, Verb> = createScheduleServices({
    schedules,
    loop,
    messageMaxBytes,
    now: Date.now,
  });

  return {
    connection,
    bucket,
    schedules,
    runs,
    loop,
    news,
    heard: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!fits(news)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    ask: async (verb, body = {}) => (await verbs[`schedule.${verb}`]?.(body)) as Record<string, unknown>,
    start() {
      const end = new AbortController();
      const running = loop.run(end.signal);
      const stop = async (): Promise<void> => {
        end.abort();
        await running;
      };
      t.teardown(stop);
      return stop;
    },
  };
}

/** What lies in the intake, by run, as a coordinator would read it. */
export async function readIntake({ jsm }: Connection): Promise<Map<string, ParsedSubmission[]>> {
  const found = new Map<string, ParsedSubmission[]>();
  const stream = names.stream('INTAKE');
  const { state } = await jsm.streams.info(stream);
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await jsm.streams.getMessage(stream, { seq });
    if (!message) continue;
    const [, , scraper = '', run = ''] = message.subject.split('.');
    const headers = (name: string): string | undefined => message.header.get(name) || undefined;
    const parsed = parseSubmission({
      subject: { scraper, run },
      headers,
      data: message.data,
      now: message.time.getTime(),
      limits: SUBMISSION_LIMITS,
    });
    found.set(run, [...(found.get(run) ?? []), parsed]);
  }
  return found;
}
