/** Coordinators on a test server, and a submitter and stand-in workers for them. */
import { headers } from '@nats-io/nats-core';
import { createCoordinatorActor, type CoordinatorOptions } from '../../src/cluster/coordinator-parts.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { LedgerRecord, TaskMessage } from '../../src/domain/task.ts';
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import type { Connection } from '../../src/nats/connect.ts';
import type { News } from '../../src/nats/events.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createLedgerWriter } from '../../src/nats/ledger-writer.ts';
import type { LedgerReader, LedgerWriter } from '../../src/nats/ledger.ts';
import { readLast } from '../../src/nats/read-last.ts';
import { createServices, type Services } from '../../src/nats/services-client.ts';
import { createStop } from '../../src/runtime/actor.ts';
import { createNames } from '../../src/wire/names.ts';
import { decodeRun, type RunRecord } from '../../src/wire/run-record.ts';
import { decodeRecord, decodeTask } from '../../src/wire/task-codec.ts';
import { listen, type Heard } from './cluster-bucket.ts';
import { STEADY_TTL } from './leader-ttl.ts';
import { quietLog, type Teardown, type TestServer } from './nats-server.ts';
import { makeStreams } from './short-leases.ts';

export const names = createNames('trawl');

export interface Coordinator {
  readonly connection: Connection;
  readonly news: readonly News[];
  /** Ends it as its supervisor does. */
  stop(): Promise<void>;
  /** Its connection goes, and nothing of it is heard again. */
  kill(): Promise<void>;
}

export type FieldServer = Pick<TestServer, 'url' | 'connect'>;

export interface Field {
  readonly server: FieldServer;
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly reader: LedgerReader;
  readonly writer: LedgerWriter;
  readonly services: Services;
  readonly runs: Heard;
  start(options?: CoordinatorOptions & { id?: string; leaderTtl?: string }): Promise<Coordinator>;
  submit(
    where: { scraper?: string; run?: string },
    body: string | Uint8Array,
    headers?: Record<string, string>,
  ): Promise<number>;
  /** The run, once it is so. */
  untilRun(id: string, fits: (run: RunRecord) => boolean, limitMs?: number): Promise<RunRecord>;
  /** Takes ready tasks out of the queue, once so many are there; none is settled. */
  takeTasks(count: number, options?: { priority?: number }): Promise<TaskMessage[]>;
  /** Settles tasks as a worker would. */
  settle(tasks: readonly TaskMessage[], state?: 'done' | 'dead'): Promise<void>;
  /** What the ledger holds of a run; `*` for all runs. */
  recordsOf(run: string): Promise<LedgerRecord[]>;
  messages(stream: 'INTAKE' | 'TASKS' | 'LEDGER'): Promise<number>;
  intakeSubjects(): Promise<string[]>;
  /** Waits until the intake is empty. */
  untilTakenIn(limitMs?: number): Promise<void>;
}

export async function openField(
  t: Teardown,
  server: FieldServer,
  options: Parameters<typeof makeStreams>[1] = {},
): Promise<Field> {
  const connection = await server.connect('field');
  await makeStreams(connection, options);
  const bucket = openBucket(connection, names.bucket('cluster'));
  const reader = createLedgerReader(connection, names);
  const writer = createLedgerWriter(connection, {
    names,
    durability: 'interval',
    batchMax: 500,
    ackTimeoutMs: 5_000,
    log: quietLog,
  });
  t.teardown(() => writer.close());
  const runs = await listen(t, bucket, 'run.*');

  const field: Field = {
    server,
    connection,
    bucket,
    reader,
    writer,
    services: createServices(connection, names),
    runs,
    start,
    async submit({ scraper = 'shop', run }, body, fields = {}) {
      const set = headers();
      for (const [name, value] of Object.entries(fields)) set.set(name, value);
      return (await connection.js.publish(names.submit(scraper, run), body, { headers: set })).seq;
    },
    async untilRun(id, fits, limitMs) {
      const { entry } = await runs.until(
        ({ key, entry: found }) => key === `run.${id}` && found !== undefined && fits(decodeRun(found.value)),
        limitMs,
      );
      if (!entry) throw new Error('cannot be');
      return decodeRun(entry.value);
    },
    takeTasks,
    async settle(tasks, state = 'done') {
      const at = Date.now();
      const outcomes = await Promise.all(
        tasks.map(({ spec, acceptSeq }) =>
          writer.settle(
            state === 'done'
              ? {
                  state,
                  spec,
                  at,
                  faults: [],
                  worker: 'w',
                  startedAt: at,
                  result: { items: [], pages: 1, bytes: 1 },
                }
              : { state, spec, at, faults: [], error: { code: 'NETWORK', message: 'away' } },
            acceptSeq,
          ),
        ),
      );
      const bad = outcomes.find(({ kind }) => kind !== 'stored');
      if (bad) throw new Error(`not settled: ${bad.kind}`);
    },
    async recordsOf(run) {
      const found = await readLast(connection, { stream: 'LEDGER', subjects: [names.ledger(run, '*')] });
      return [...found.values()].map(({ data }) => decodeRecord(data));
    },
    async messages(stream) {
      return (await connection.jsm.streams.info(names.stream(stream))).state.messages;
    },
    async intakeSubjects() {
      const { state } = await connection.jsm.streams.info('INTAKE', { subjects_filter: '>' });
      return Object.keys(state.subjects ?? {}).sort();
    },
    untilTakenIn: (limitMs) => until(async () => (await field.messages('INTAKE')) === 0, limitMs),
  };
  return field;

  async function takeTasks(count: number, { priority = 0 } = {}): Promise<TaskMessage[]> {
    const consumer = await connection.js.consumers.get(names.stream('TASKS'), `p${priority}`);
    const tasks: TaskMessage[] = [];
    const batch = await consumer.fetch({ max_messages: count, expires: 10_000 });
    for await (const message of batch) {
      tasks.push(decodeTask(message.data));
      message.ack();
    }
    if (tasks.length !== count) throw new Error(`${tasks.length} tasks came instead of ${count}`);
    return tasks;
  }

  async function start(options: Parameters<Field['start']>[0] = {}): Promise<Coordinator> {
    const { id = 'c1', leaderTtl = STEADY_TTL, ...rest } = options;
    const own = await server.connect(id);
    const settings = loadConfig({
      flags: {},
      env: { NATS_URL: server.url, TRAWL_LEADER_TTL: leaderTtl },
      cwd: '/',
    }).config;
    const news: News[] = [];
    const control = createStop(5_000);
    const actor = createCoordinatorActor(
      {
        config: settings,
        names,
        connection: own,
        bucket: openBucket(own, names.bucket('cluster')),
        id,
        log: quietLog,
        announce: (event) => void news.push(event),
      },
      rest,
    );
    const done = actor.run(control.stop);
    await until(() => answers(own));
    const ended = done.catch(() => undefined);
    const stop = async (): Promise<void> => {
      control.quiet();
      await done;
      control.settled();
    };
    t.teardown(async () => {
      control.abort();
      await ended;
    });
    return {
      connection: own,
      news,
      stop,
      async kill() {
        await own.close();
        control.abort();
        await ended;
      },
    };
  }
}

/** Whether somebody answers the services; for a second coordinator that is the first one, which does no harm. */
async function answers(connection: Connection): Promise<boolean> {
  return createServices(connection, names)
    .call('run.list', {})
    .then(
      () => true,
      () => false,
    );
}

/** Looks again and again, a few milliseconds apart; fails after the limit. */
export async function until(look: () => Promise<boolean>, limitMs = 10_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await look())) {
    if (performance.now() > endMs) throw new Error(`not so within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
