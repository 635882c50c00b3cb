/** The worker's ports, fitted to the NATS adapters. */
import { createWorker, type Worker } from '../actors/worker.ts';
import type { Strain } from '../policy/pressure.ts';
import { decideStanding, judgeAbsence, type StandingFacts } from '../policy/standing.ts';
import type {
  Cancelled,
  Lanes,
  LaneListener,
  TaskMeter,
  WorkerLimits,
  WorkerPorts,
} from '../actors/worker/ports.ts';
import type { Routes } from '../domain/routes.ts';
import type { TaskSpec } from '../domain/task.ts';
import { createBlobStore, type BlobStore } from '../nats/blobs.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { Bucket } from '../nats/bucket.ts';
import { buryUnreadable } from '../nats/bury-unreadable.ts';
import type { Connection } from '../nats/connect.ts';
import type { Announce } from '../nats/events.ts';
import { createSubmitFollowUps, type SubmitFollowUps } from '../nats/follow-ups.ts';
import { createInHand } from '../nats/in-hand.ts';
import { createLedgerReader } from '../nats/ledger-reader.ts';
import { createLedgerWriter } from '../nats/ledger-writer.ts';
import { createStoreNext } from '../nats/next-attempt.ts';
import { createStoreOutcome } from '../nats/outcomes.ts';
import { createPublisher, type Publisher } from '../nats/publisher.ts';
import { createSoloStarts } from '../nats/solo-starts.ts';
import { openTaskLanes } from '../nats/task-lanes.ts';
import { createTaskLock } from '../nats/task-lock.ts';
import { isNothingLeft } from '../nats/tasks-left.ts';
import { createCleanup, type Cleanup } from '../runtime/cleanup.ts';
import type { Registry } from '../scrapers/registry.ts';
import { createSharedKeeper, type SharedKeeper } from '../scrapers/shared-keeper.ts';
import type { Log } from '../telemetry/log.ts';
import { createRoute } from '../wire/lanes.ts';
import type { Names } from '../wire/names.ts';

/** What decides where a worker stands. */
export interface Surroundings {
  others(): readonly (readonly string[])[];
  routes(): Routes;
  /** Calls back when one of them has changed; returns the undo. */
  onChange(listener: () => void): () => void;
}

export interface WorkerParts {
  readonly names: Names;
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly log: Log;
  readonly announce: Announce;
  readonly registry: Registry;
  readonly limits: WorkerLimits;
  readonly publisher: {
    readonly durability: 'always' | 'interval';
    readonly batch: number;
    readonly ackTimeoutMs: number;
  };
  readonly lockTtlMs: number;
  /** When this life of the worker began, as its heartbeat says. */
  readonly startedAt: number; // epoch ms
  /** How long the record of what is in hand counts; like that of the heartbeat. */
  readonly deadAfterMs: number;
  readonly isOpen: () => boolean;
  readonly onOpen?: WorkerPorts['onOpen'] | undefined;
  /** The scrapers of each of the others that run, and which of all share lanes. */
  readonly surroundings: Surroundings;
  /** It works for this scraper alone, and leaves the tasks of others to others. */
  readonly onlyScraper?: string | undefined;
  readonly pausedBy: (spec: TaskSpec) => string | undefined;
  readonly onCancelled: (listener: (cancelled: Cancelled) => void) => () => void;
  readonly lastBeatAt: () => number;
  /** Ends when nothing is left of this run, or of anything; absent: works until it is stopped. */
  readonly untilEmpty?: { readonly run?: string } | undefined;
  readonly meter?: TaskMeter | undefined;
  /** Absent: its scrapers cannot fetch. */
  readonly fetcher?: Fetcher | undefined;
  /** Absent: it always uses all of its slots. */
  readonly readStrain?: (() => Strain) | undefined;
  readonly onSlots?: (() => void) | undefined;
  /** It takes tasks and calls from now on. */
  readonly open?: (() => void) | undefined;
  /** Where somebody else may have to take down what scrapers have set up. */
  readonly shared?: SharedKeeper | undefined;
}

export function assembleWorker(parts: WorkerParts): Worker {
  const { log } = parts;
  let worker: Worker | undefined;
  return {
    role: 'worker',
    inFlight: () => worker?.inFlight() ?? 0,
    inFlightByRun: () => worker?.inFlightByRun() ?? new Map(),
    vitals: () => worker?.vitals() ?? {},
    held: () => worker?.held() ?? [],
    call: async (spec, limitMs) =>
      worker ? worker.call(spec, limitMs) : { state: 'refused', reason: 'stopping' },
    async run(stop) {
      const cleanup = createCleanup(log);
      try {
        worker = createWorker(createPorts(parts, await openTools(parts, cleanup)), parts.limits);
        const ended = worker.run(stop);
        parts.open?.();
        await ended;
      } finally {
        await cleanup.run();
      }
    },
  };
}

interface Tools {
  readonly publisher: Publisher;
  readonly writer: ReturnType<typeof createLedgerWriter>;
  readonly blobs: BlobStore;
  readonly shared: SharedKeeper;
  readonly submit: SubmitFollowUps;
}

async function openTools(
  { connection, names, log, publisher: options, fetcher, shared }: WorkerParts,
  cleanup: Cleanup,
): Promise<Tools> {
  const open = async (stream: string): Promise<Publisher> => {
    const publisher = await createPublisher(connection, { stream, ...options, log });
    cleanup.add(`publisher of ${stream}`, () => publisher.close());
    return publisher;
  };
  const publisher = await open(names.stream('TASKS'));
  const writer = createLedgerWriter(connection, {
    names,
    durability: options.durability,
    batchMax: options.batch,
    ackTimeoutMs: options.ackTimeoutMs,
    log,
  });
  const blobs = createBlobStore(connection, names);
  cleanup.add('blobs', () => blobs.close());
  cleanup.add('ledger', () => writer.close());
  cleanup.add('fetcher', () => fetcher?.close());
  const kept = shared ?? createSharedKeeper(log);
  cleanup.add('what scrapers have set up', () => kept.close());
  let intake: Promise<Publisher> | undefined;
  const openIntake = (): Promise<Publisher> => {
    intake ??= open(names.stream('INTAKE'));
    intake.catch(() => (intake = undefined));
    return intake;
  };
  return { publisher, writer, blobs, shared: kept, submit: createSubmitFollowUps(openIntake, names) };
}

function createPorts(parts: WorkerParts, { publisher, writer, blobs, shared, submit }: Tools): WorkerPorts {
  const { connection, names, bucket, log, limits, registry, untilEmpty, fetcher, readStrain, onSlots } =
    parts;
  const { surroundings, onlyScraper } = parts;
  const only = onlyScraper !== undefined;
  const around = (): Omit<StandingFacts, 'has'> => ({
    only,
    routes: surroundings.routes(),
    others: surroundings.others(),
  });
  const self = { id: limits.worker, startedAt: parts.startedAt };
  const solo = createSoloStarts(bucket, { self, log });
  return {
    openLanes,
    findScraper: (name) => registry.find(name),
    storeOutcome: createStoreOutcome({
      writer,
      blobs,
      maxPayload: () => connection.nc.info?.max_payload ?? Infinity,
      log,
    }),
    storeNext: createStoreNext(publisher, {
      names,
      route: createRoute(names, () => surroundings.routes()),
    }),
    beginSolo: (spec) => solo.begin(spec),
    endSolo: (spec) => solo.end(spec),
    tellInHand: createInHand(bucket, {
      worker: limits.worker,
      startedAt: parts.startedAt,
      ttlMs: parts.deadAfterMs,
      log,
    }),
    withLock: createTaskLock(bucket, { owner: limits.worker, ttlMs: parts.lockTtlMs }),
    ...(fetcher && { openFetch: (attempt) => fetcher.open(attempt) }),
    sharedOf: (scraper) => shared.of(scraper),
    submit,
    pausedBy: parts.pausedBy,
    isOpen: parts.isOpen,
    ...(parts.onOpen && { onOpen: parts.onOpen }),
    judgeAbsence: (scraper) => judgeAbsence(scraper, around()),
    onCancelled: parts.onCancelled,
    lastBeatAt: parts.lastBeatAt,
    ...(untilEmpty && {
      isEmpty: () => isNothingLeft(connection, names, { ...untilEmpty, scraper: onlyScraper }),
    }),
    ...(readStrain && { readStrain }),
    ...(onSlots && { onSlots }),
    announce: (kind, facts) => parts.announce({ about: 'task', kind, facts }),
    meter: parts.meter,
    log,
  };

  function openLanes(listener: LaneListener): Lanes {
    const reader = createLedgerReader(connection, names);
    const lanes = openTaskLanes(connection, {
      stream: names.stream('TASKS'),
      log,
      onDelivery: (delivery) => listener.onDelivery(delivery),
      onRoom: () => listener.onRoom(),
      onUnreadable: (message) => void buryUnreadable(message, { reader, writer, words: lanes, log }),
    });
    const stand = (): void => {
      const has = (scraper: string): boolean => registry.find(scraper) !== undefined;
      lanes.stand(decideStanding({ ...around(), has }));
    };
    const unfollow = surroundings.onChange(stand);
    stand();
    return {
      ...lanes,
      close() {
        unfollow();
        return lanes.close();
      },
    };
  }
}
