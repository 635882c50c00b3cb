/**
 * A worker in a process of its own, put together from the real parts, with a bug if the first argument names one:
 *
 *   ack-first   acknowledges a task before its outcome is stored
 *   no-fence    stores an outcome over whatever is there
 *   drop-failed lets a task go whose attempt failed
 *   count-own   counts what it has stored itself, and nothing that it finds
 *   none        has no bug
 *
 * Now and then it dies between the two steps of settling a task, where a kill from outside seldom hits; with `ack-first`
 * in each life at least once, unless something else ends it before.
 */
import { createWorker } from '../../../src/actors/worker.ts';
import {
  WORKER_DEFAULTS,
  type Delivery,
  type Lanes,
  type WorkerPorts,
} from '../../../src/actors/worker/ports.ts';
import { firstBeat } from '../../../src/cluster/first-beat.ts';
import { claimIdentity } from '../../../src/nats/beats.ts';
import type { Connection } from '../../../src/nats/connect.ts';
import { createBlobStore } from '../../../src/nats/blobs.ts';
import { createLedgerReader } from '../../../src/nats/ledger-reader.ts';
import { createLedgerWriter } from '../../../src/nats/ledger-writer.ts';
import { createStoreNext } from '../../../src/nats/next-attempt.ts';
import { createStoreOutcome } from '../../../src/nats/outcomes.ts';
import { createPublisher } from '../../../src/nats/publisher.ts';
import { createSoloStarts } from '../../../src/nats/solo-starts.ts';
import { openTaskLanes } from '../../../src/nats/task-lanes.ts';
import { POISON_DEFAULTS } from '../../../src/policy/poison.ts';
import { SETTLE_DEFAULTS } from '../../../src/policy/settle.ts';
import { createStop } from '../../../src/runtime/actor.ts';
import { loadScrapers } from '../../../src/scrapers/load.ts';
import { createRegistry } from '../../../src/scrapers/registry.ts';
import { VERSION } from '../../../src/version.ts';
import { openProcess } from './process-parts.ts';

const DIES = 0.01;
const DIES_BEFORE_COUNT = 0.03;
const LIFE_TASKS = 20;

const [, , bug = 'none'] = process.argv;
const { config, connection, names, bucket, id, log, announce, leaseMs } = await openProcess(
  'worker',
  bug === 'count-own' ? DIES_BEFORE_COUNT : undefined,
);
const identity = await claimIdentity(bucket, {
  beat: firstBeat({ role: 'worker', id, version: VERSION }),
  deadAfterMs: config.heartbeat.deadAfter,
  isRunning: () => false,
  log,
});
identity.start(config.heartbeat.interval);
const options = { batch: config.publisher.batch, ackTimeoutMs: config.publisher.ackTimeout, log };
const publisher = await createPublisher(connection, {
  stream: names.stream('TASKS'),
  durability: 'always',
  ...options,
});
const writer = createLedgerWriter(bug === 'count-own' ? blind(connection) : connection, {
  names,
  durability: config.durability,
  batchMax: options.batch,
  ...options,
  lanes: 4,
});
const reader = createLedgerReader(connection, names);
const registry = createRegistry((await loadScrapers(config.worker.scrapers)).scrapers);
const solo = createSoloStarts(bucket, { self: identity.beat(), log });
const inHand = new Map<string, Delivery>();
let lanes: Lanes | undefined;
let ackedFirst = 0;

const storeOutcome = createStoreOutcome({
  writer,
  blobs: createBlobStore(connection, names),
  maxPayload: () => connection.nc.info?.max_payload ?? Infinity,
  log,
});
const ports: WorkerPorts = {
  openLanes: (listener) =>
    (lanes = openTaskLanes(connection, {
      stream: names.stream('TASKS'),
      log,
      onDelivery(delivery) {
        inHand.set(delivery.task.spec.id, delivery);
        listener.onDelivery(delivery);
      },
      onRoom: () => listener.onRoom(),
      onUnreadable: ({ subject }) => log.error('task.unreadable', { subject }),
    })),
  findScraper: (name) => registry.find(name),
  async storeOutcome(outcome, acceptSeq) {
    const { run, id: task } = outcome.spec;
    const delivery = inHand.get(task);
    if (bug === 'ack-first' && delivery) {
      lanes?.ack(delivery);
      ackedFirst += 1;
    }
    await (ackedFirst === LIFE_TASKS ? die() : mayDie());
    const current = bug === 'no-fence' ? (await reader.read(run, task))?.seq : undefined;
    const stored = await storeOutcome(outcome, current ?? acceptSeq);
    await mayDie();
    return stored;
  },
  storeNext:
    bug === 'drop-failed'
      ? async () => ({ kind: 'stored' })
      : createStoreNext(publisher, { names, route: (spec) => names.task(spec) }),
  beginSolo: (spec) => solo.begin(spec),
  endSolo: (spec) => solo.end(spec),
  tellInHand: () => undefined,
  withLock: () => Promise.reject(new Error('no locks here')),
  pausedBy: () => undefined,
  isOpen: () => true,
  onCancelled: () => () => undefined,
  lastBeatAt: () => identity.storedAt(),
  announce: (kind, facts) => announce({ about: 'task', kind, facts }),
  log,
};

/** It finds nothing in the ledger. */
function blind(whole: Connection): Connection {
  const { jsm } = whole;
  const { streams } = jsm;
  const getMessage = async (): Promise<null> => null;
  const unseeing = Object.create(streams, { getMessage: { value: getMessage } }) as typeof streams;
  return { ...whole, jsm: Object.create(jsm, { streams: { value: unseeing } }) as typeof jsm };
}

async function mayDie(): Promise<void> {
  if (Math.random() < DIES / 2) await die();
}

async function die(): Promise<void> {
  await connection.nc.flush();
  process.kill(process.pid, 'SIGKILL');
}

const { retries, retryBase: baseMs, retryMax: maxMs } = config.tasks;
const worker = createWorker(ports, {
  ...WORKER_DEFAULTS,
  worker: id,
  concurrency: config.worker.concurrency,
  leaseMs,
  prefetchMax: config.worker.prefetch,
  settle: { ...SETTLE_DEFAULTS, retries, backoff: { baseMs, maxMs } },
  poison: POISON_DEFAULTS,
});
await worker.run(createStop(config.actor.grace).stop);
