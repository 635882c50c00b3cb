/** Streams, ledger and workers on a test server, and tasks put straight into them: a cluster without a coordinator. */
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { createLedgerReader } from '../../src/nats/ledger-reader.ts';
import { createLedgerWriter } from '../../src/nats/ledger-writer.ts';
import type { LedgerReader } from '../../src/nats/ledger.ts';
import { createPublisher } from '../../src/nats/publisher.ts';
import { shortHash } from '../../src/domain/task-id.ts';
import type { LedgerRecord, Outcome, Priority, TaskSpec } from '../../src/domain/task.ts';
import { createNames, type Names } from '../../src/wire/names.ts';
import { sumCounts } from '../../src/policy/counters.ts';
import { decodeCount, decodeRecord, encodeTask, type CountRecord } from '../../src/wire/task-codec.ts';
import { quietLog, type Teardown, type TestServer } from './nats-server.ts';
import { makeStreams } from './short-leases.ts';
import { acceptOne } from './accept-one.ts';

export interface WorldOptions {
  /** The lease of every lane. */
  readonly leaseMs?: number;
}

export interface NewTask {
  readonly run: string;
  readonly key: string;
  readonly scraper?: string;
  readonly url?: string;
  readonly priority?: Priority;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly createdAt?: number;
  /** In the lanes of its scraper alone. */
  readonly own?: boolean;
}

/** Every record that the ledger was given for a run since it was asked to listen. */
export interface Settled {
  readonly outcomes: ReadonlyMap<string, Outcome[]>;
  /** The outcomes by key, once so many tasks have one. */
  /** When so many are settled, and counted. */
  until(tasks: number, limitMs?: number): Promise<Map<string, Outcome>>;
}

export interface TaskWorld {
  readonly connection: Connection;
  readonly names: Names;
  readonly bucket: Bucket;
  readonly reader: LedgerReader;
  /** Accepts the tasks and makes them ready, in this order. */
  put(tasks: readonly NewTask[]): Promise<TaskSpec[]>;
  follow(run: string): Promise<Settled>;
  /** What TASKS still holds. */
  left(): Promise<number>;
}

export const LEASE_MS = 300_000;

export async function createTaskWorld(
  t: Teardown,
  server: TestServer,
  options: WorldOptions = {},
): Promise<TaskWorld> {
  const connection = await server.connect('world');
  const names = createNames('trawl');
  await makeStreams(connection, { leaseMs: options.leaseMs ?? LEASE_MS });
  const writer = createLedgerWriter(connection, {
    names,
    durability: 'interval',
    batchMax: 500,
    ackTimeoutMs: 5_000,
    log: quietLog,
  });
  t.teardown(() => writer.close());
  const publisher = await createPublisher(connection, {
    stream: names.stream('TASKS'),
    durability: 'always',
  });
  t.teardown(() => publisher.close());

  return {
    connection,
    names,
    bucket: openBucket(connection, names.bucket('cluster')),
    reader: createLedgerReader(connection, names),
    put: (tasks) => Promise.all(tasks.map(put)),
    follow: (run) => followLedger(t, { connection, names, run }),
    async left() {
      return (await connection.jsm.streams.info(names.stream('TASKS'))).state.messages;
    },
  };

  async function put(task: NewTask): Promise<TaskSpec> {
    const { run, key, scraper = 'noop', priority = 5, url, input, createdAt = Date.now() } = task;
    const spec = {
      id: shortHash(`${scraper}\0${key}`),
      run,
      scraper,
      key,
      priority,
      createdAt,
      ...(url !== undefined && { url }),
      ...(input && { input }),
    };
    const accepted = await acceptOne(writer, { state: 'queued', spec, at: createdAt, faults: [] });
    if (accepted.kind !== 'stored') throw new Error(`${key} was not accepted: ${accepted.kind}`);
    const message = { spec, acceptSeq: accepted.seq, faults: [], triedProxies: [], deferrals: 0 };
    const sent = await publisher.publish({
      subject: task.own ? names.only(spec) : names.task(spec),
      payload: encodeTask(message),
      repeatable: true,
    });
    if (sent.kind !== 'stored') throw new Error(`${key} was not queued: ${sent.reason}`);
    return spec;
  }
}

async function followLedger(
  t: Teardown,
  { connection, names, run }: { connection: Connection; names: Names; run: string },
): Promise<Settled> {
  const outcomes = new Map<string, Outcome[]>();
  const counts = new Map<string, CountRecord>();
  const waiting = new Set<() => void>();
  const consumer = await connection.js.consumers.get(names.stream('LEDGER'), {
    filter_subjects: [names.ledger(run, '*'), names.count(run, '*')],
  });
  const messages = await consumer.consume({
    callback({ subject, data }) {
      if (subject.startsWith(names.count(run, ''))) counts.set(subject, decodeCount(data));
      else note(decodeRecord(data));
      for (const look of waiting) look();
    },
  });
  t.teardown(() => messages.close());
  return { outcomes, until };

  function note(record: LedgerRecord): void {
    if (record.state === 'queued') return;
    const key = record.spec.key ?? '';
    outcomes.set(key, [...(outcomes.get(key) ?? []), record]);
  }

  /** An outcome may be counted a moment after it is stored. */
  function isCounted(): boolean {
    const { done, dead, cancelled } = sumCounts(counts.values());
    return done + dead + cancelled >= outcomes.size;
  }

  function until(tasks: number, limitMs = 30_000): Promise<Map<string, Outcome>> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look);
        reject(new Error(`${outcomes.size} of ${tasks} tasks settled within ${limitMs} ms`));
      }, limitMs);
      const look = (): void => {
        if (outcomes.size < tasks || !isCounted()) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(new Map([...outcomes].flatMap(([key, [first]]) => (first ? [[key, first]] : []))));
      };
      waiting.add(look);
      look();
    });
  }
}
