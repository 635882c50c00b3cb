/** A worker for tests: the real one, with small limits and handlers of the test. */
import { assembleWorker, type WorkerParts } from '../../src/cluster/worker-parts.ts';
import type { Cancelled, WorkerLimits } from '../../src/actors/worker/ports.ts';
import { WORKER_DEFAULTS } from '../../src/actors/worker/ports.ts';
import type { Vitals } from '../../src/domain/beat.ts';
import { NO_ROUTES } from '../../src/domain/routes.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { openBucket } from '../../src/nats/bucket.ts';
import { POISON_DEFAULTS } from '../../src/policy/poison.ts';
import { PREFETCH_MAX_DEFAULT } from '../../src/policy/prefetch.ts';
import { SETTLE_DEFAULTS } from '../../src/policy/settle.ts';
import { createStop } from '../../src/runtime/actor.ts';
import { noop } from '../../src/scrapers/noop.ts';
import { createRegistry } from '../../src/scrapers/registry.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { createNames } from '../../src/wire/names.ts';
import { quietLog, type Teardown } from './nats-server.ts';
import { LEASE_MS } from './task-world.ts';

export interface WorkerOptions extends Partial<
  Pick<
    WorkerParts,
    | 'isOpen'
    | 'onOpen'
    | 'surroundings'
    | 'onlyScraper'
    | 'pausedBy'
    | 'lastBeatAt'
    | 'untilEmpty'
    | 'log'
    | 'fetcher'
    | 'readStrain'
    | 'onSlots'
  >
> {
  readonly connection: Connection;
  readonly scrapers?: readonly Scraper[];
  readonly limits?: Partial<WorkerLimits>;
}

export interface RunningWorker {
  readonly id: string;
  readonly ended: Promise<void>;
  quiet(): void;
  abort(): void;
  cancel(cancelled: Cancelled): void;
  inFlight(): number;
  vitals(): Vitals;
}

let count = 0;

export const FAST_SETTLE = { ...SETTLE_DEFAULTS, backoff: { baseMs: 20, maxMs: 100 }, deferMs: 250 };

export function startWorker(t: Teardown, options: WorkerOptions): RunningWorker {
  const { connection } = options;
  count += 1;
  const id = options.limits?.worker ?? `w${count}`;
  const names = createNames('trawl');
  const control = createStop(60_000);
  let listener: ((cancelled: Cancelled) => void) | undefined;
  const worker = assembleWorker({
    names,
    connection,
    bucket: openBucket(connection, names.bucket('cluster')),
    log: options.log ?? quietLog,
    announce: () => undefined,
    registry: createRegistry([...(options.scrapers ?? []), noop]),
    limits: {
      worker: id,
      concurrency: 10,
      leaseMs: LEASE_MS,
      prefetchMax: PREFETCH_MAX_DEFAULT,
      settle: FAST_SETTLE,
      poison: POISON_DEFAULTS,
      ...WORKER_DEFAULTS,
      ...options.limits,
    },
    publisher: { durability: 'always', batch: 500, ackTimeoutMs: 5_000 },
    lockTtlMs: 3_000,
    startedAt: 1,
    deadAfterMs: 3_000,
    surroundings: options.surroundings ?? {
      others: () => [],
      routes: () => NO_ROUTES,
      onChange: () => () => undefined,
    },
    onlyScraper: options.onlyScraper,
    isOpen: options.isOpen ?? (() => true),
    ...(options.onOpen && { onOpen: options.onOpen }),
    pausedBy: options.pausedBy ?? (() => undefined),
    lastBeatAt: options.lastBeatAt ?? (() => performance.now()),
    untilEmpty: options.untilEmpty,
    fetcher: options.fetcher,
    readStrain: options.readStrain,
    onSlots: options.onSlots,
    onCancelled(each) {
      listener = each;
      return () => (listener = undefined);
    },
  });
  const ended = worker.run(control.stop).finally(() => control.settled());
  ended.catch(() => undefined);
  t.teardown(async () => {
    control.abort();
    await ended.catch(() => undefined);
  });
  return {
    id,
    ended,
    quiet: () => control.quiet(),
    abort: () => control.abort(),
    cancel: (cancelled) => listener?.(cancelled),
    inFlight: () => worker.inFlight(),
    vitals: () => worker.vitals(),
  };
}
