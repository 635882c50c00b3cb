/** Stands for a coordinator: keeps runs in the real bucket, answers the services, and settles what a test tells it to. */
import { headers } from '@nats-io/transport-node';
import { openBucket, type Bucket } from '../../src/nats/bucket.ts';
import { isUpWithin } from '../../src/nats/ask.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { loadConfig } from '../../src/config/load.ts';
import { planCluster } from '../../src/cluster/topology.ts';
import { asFailure, Failure } from '../../src/domain/failure.ts';
import type { LedgerRecord } from '../../src/domain/task.ts';
import { decode, encodeJson } from '../../src/wire/codec.ts';
import { createNames, keys } from '../../src/wire/names.ts';
import { decodeRun, encodeRun, type RunRecord } from '../../src/wire/run-record.ts';
import { encodeRecord } from '../../src/wire/task-codec.ts';
import type { Teardown, TestServer } from './nats-server.ts';

type Body = Readonly<Record<string, unknown>>;
type Answer = (body: Body) => unknown;

export interface StubCoordinator {
  readonly connection: Connection;
  readonly bucket: Bucket;
  /** Every request, in order. */
  readonly asked: readonly { readonly verb: string; readonly body: Body }[];
  /** Answers a verb from now on. */
  on(verb: string, answer: Answer): void;
  putRun(run: Partial<RunRecord> & { id: string }): Promise<void>;
  /** Writes records of a run into the ledger. */
  write(run: string, records: readonly LedgerRecord[]): Promise<void>;
}

const COUNTS = {
  total: 0,
  queued: 0,
  running: 0,
  deferred: 0,
  done: 0,
  dead: 0,
  cancelled: 0,
  duplicates: 0,
  items: 0,
  remaining: 0,
};

const names = createNames('trawl');

export async function startStubCoordinator(t: Teardown, server: TestServer): Promise<StubCoordinator> {
  const connection = await server.connect('stub coordinator');
  const { config } = loadConfig({ flags: {}, env: { NATS_URL: server.url }, cwd: '/' });
  await applyTopology(connection, planCluster(config), { onDrift: 'keep' });
  const bucket = openBucket(connection, names.bucket('cluster'));
  const verbs = new Map<string, Answer>();
  const asked: { verb: string; body: Body }[] = [];
  const prefix = names.service('');

  const readRun = async (id: unknown): Promise<RunRecord> => {
    const entry = await bucket.get(keys.run(String(id)));
    if (!entry) throw new Failure('INVALID', `there is no run ${String(id)}`, { hint: 'trawl runs ls' });
    return decodeRun(entry.value);
  };
  const putRun = async (run: Partial<RunRecord> & { id: string }): Promise<void> => {
    const now = Date.now();
    const common = { scraper: 'prices', priority: 0, createdAt: now, lastSubmitAt: now, taken: 0 };
    const record: RunRecord = { ...common, state: 'active', standing: false, ...run };
    await bucket.put(keys.run(run.id), encodeRun(record));
  };

  verbs.set('run.create', async ({ scraper, run }) => {
    const id = typeof run === 'string' ? run : '20260131_080000';
    await putRun({ id, scraper: String(scraper) });
    return readRun(id);
  });
  verbs.set('run.seal', async ({ run, messages }) => {
    const record = await readRun(run);
    await putRun({ ...record, sealed: { messages: Number(messages) } });
    return readRun(run);
  });
  verbs.set('run.show', async ({ run }) => ({ ...(await readRun(run)), counts: COUNTS }));

  const subscription = connection.nc.subscribe(`${prefix}>`, {
    queue: 'coordinators',
    callback: (_, message) => {
      const verb = message.subject.slice(prefix.length);
      const body = decode(message.data) as Body;
      asked.push({ verb, body });
      const answer = verbs.get(verb);
      if (!answer) return;
      Promise.resolve()
        .then(() => answer(body))
        .then(
          (reply) => message.respond(encodeJson(reply)),
          (error: unknown) => {
            const { code, message: reason, hint } = asFailure(error);
            const marked = headers();
            marked.set('Nats-Service-Error-Code', '400');
            message.respond(encodeJson({ error: { code, message: reason, hint } }), { headers: marked });
          },
        )
        .catch(() => undefined); // the test has ended
    },
  });
  t.teardown(() => subscription.unsubscribe());
  await connection.nc.flush();

  return {
    connection,
    bucket,
    asked,
    on: (verb, answer) => void verbs.set(verb, answer),
    putRun,
    async write(run, records) {
      if (!(await isUpWithin(connection, 20_000))) throw new Error('the stub is not connected');
      const acks = records.map((record) =>
        connection.js.publish(names.ledger(run, record.spec.id), encodeRecord(record)),
      );
      await Promise.all(acks);
    },
  };
}

export function counts(given: Partial<typeof COUNTS>): typeof COUNTS {
  return { ...COUNTS, ...given };
}

/** A record of a task, with everything that does not matter filled in. */
export function recordOf(
  id: string,
  run: string,
  end: { items?: unknown[]; data?: unknown; error?: string; cancelled?: string } | 'queued',
): LedgerRecord {
  const at = 1_769_800_000_000;
  const url = `https://shop.example/${id}`;
  const common = {
    spec: { id, run, scraper: 'prices', url, priority: 0, createdAt: at },
    at,
    faults: [],
  } as const;
  if (end === 'queued') return { ...common, state: 'queued' };
  if (end.error !== undefined)
    return { ...common, state: 'dead', error: { code: 'TIMEOUT', message: end.error } };
  if (end.cancelled !== undefined) return { ...common, state: 'cancelled', reason: end.cancelled };
  const data = end.data === undefined ? {} : { data: end.data };
  const result = { items: end.items ?? [], pages: 1, bytes: 10, ...data };
  return { ...common, state: 'done', worker: 'w1', startedAt: at, result };
}
