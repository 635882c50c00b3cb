/** A worker as the configuration wants it: its scrapers loaded, its limits set, its flags watched. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerLimits } from '../actors/worker/ports.ts';
import { WORKER_DEFAULTS } from '../actors/worker/ports.ts';
import type { Worker } from '../actors/worker.ts';
import { scrapersOf } from '../domain/beat.ts';
import { Failure, messageOf } from '../domain/failure.ts';
import { listBeats, watchBeats } from '../nats/beats.ts';
import { hearCancelled } from '../nats/cancel-news.ts';
import { answerInHand } from '../nats/in-hand-survey.ts';
import { answerLoad } from '../nats/load-survey.ts';
import { answerHeld, giveBackOrphans } from '../nats/orphans.ts';
import { watchPauses } from '../nats/pauses.ts';
import { watchRoutes } from '../nats/routes.ts';
import { readLeaseMs } from '../nats/task-lease.ts';
import { checkLease } from '../policy/lease.ts';
import { POISON_DEFAULTS } from '../policy/poison.ts';
import { summarizeInHand } from '../policy/run-load.ts';
import { SETTLE_DEFAULTS } from '../policy/settle.ts';
import { createOpening } from '../runtime/actor.ts';
import { noop } from '../scrapers/noop.ts';
import { createRegistry, type Registry } from '../scrapers/registry.ts';
import { createSharedKeeper, type SharedKeeper } from '../scrapers/shared-keeper.ts';
import { answerCall } from './answer-call.ts';
import { createClusterFetcher } from './create-fetcher.ts';
import { loadConfiguredScrapers } from './load-scrapers.ts';
import { createStrainReader } from './read-strain.ts';
import type { ActorParts } from './roles.ts';
import { assembleWorker, type Surroundings } from './worker-parts.ts';

const ORPHAN_TRIES = 20;
const ORPHAN_PAUSE_MS = 2_000;

export function createClusterWorker(parts: ActorParts): Worker {
  const fetcher = createClusterFetcher(parts);
  const { opened, open } = createOpening();
  let worker: Worker | undefined;
  const call: Worker['call'] = async (spec, limitMs) =>
    worker ? worker.call(spec, limitMs) : { state: 'refused', reason: 'stopping' };
  return {
    role: 'worker',
    opened,
    inFlight: () => worker?.inFlight() ?? 0,
    inFlightByRun: () => worker?.inFlightByRun() ?? new Map(),
    vitals: () => ({ ...worker?.vitals(), starved: fetcher.stats().starved }),
    held: () => worker?.held() ?? [],
    call,
    verbs: { call: (body) => answerCall(parts, call, body) },
    async run(stop) {
      const { config, connection, names, bucket, gate } = parts;
      const leaseMs = await requireLease(parts);
      const registry = await load(parts);
      const shared = createSharedKeeper(parts.log);
      const pauses = await watchPauses(bucket, stop.abort);
      worker = assembleWorker({
        ...parts,
        registry,
        limits: limitsOf(parts, leaseMs),
        publisher: {
          durability: config.durability,
          batch: config.publisher.batch,
          ackTimeoutMs: config.publisher.ackTimeout,
        },
        lockTtlMs: config.lock.ttl,
        // It outlives the heartbeat: whoever notices the death needs it.
        deadAfterMs: 2 * config.heartbeat.deadAfter,
        isOpen: () => gate.isOpen() && pauses.all() === undefined,
        onOpen: (listener) => gate.onOpen(listener),
        surroundings: await watchSurroundings(parts, stop.abort),
        pausedBy: (spec) => pauses.of(spec),
        onCancelled: (listener) => hearCancelled(connection, names, listener),
        fetcher,
        shared,
        ...(config.worker.adaptive && {
          readStrain: createStrainReader(parts),
          // With the next beat all would know; whoever counts the slots should not have to wait for it.
          onSlots: () => void parts.tell({}),
        }),
        meter: parts.tally,
        open,
      });
      const started = worker;
      const answering = [
        answerInHand(connection, names, (run) => summarizeInHand(started.inFlightByRun(), run)),
        answerLoad(connection, names, {
          worker: parts.id,
          load: () => ({
            running: started.inFlight(),
            slots: config.worker.concurrency,
            starved: Math.min(started.inFlight(), fetcher.stats().waiting),
            memoryBytes: process.memoryUsage.rss(),
          }),
        }),
        answerHeld(connection, names, { worker: parts.id, held: () => started.held() }),
      ];
      const crashed = (error: unknown): void => void leave(error, shared, parts);
      process.once('uncaughtException', crashed);
      // One that has a name may follow one that was killed.
      if (config.actor.id !== undefined) void takeUpOrphans(parts, stop.quiet);
      try {
        await started.run(stop);
      } finally {
        process.off('uncaughtException', crashed);
        for (const end of answering) end();
      }
    },
  };
}

/** The settings were held to the lease that the definitions say; somebody may have given the server another. */
async function requireLease({ config, connection, names }: ActorParts): Promise<number> {
  const leaseMs = await readLeaseMs(connection, names);
  const problem = checkLease(leaseMs, config.heartbeat.interval);
  if (problem === undefined) return leaseMs;
  throw new Failure('INVALID', problem, {
    hint: 'Beat more often, or make the leases longer: `trawl topology diff` shows what differs.',
  });
}

/** Gives back what died with somebody, asked again while not everybody answers; otherwise their leases end it. */
async function takeUpOrphans(
  { connection, names, bucket, log }: ActorParts,
  over: AbortSignal,
): Promise<void> {
  const living = async (): Promise<string[]> =>
    (await listBeats(bucket, log))
      .filter(({ role, status }) => role === 'worker' && status !== 'stopped')
      .map(({ id }) => id);
  for (let left = ORPHAN_TRIES; left > 0 && !over.aborted; left -= 1) {
    const tasks = await giveBackOrphans(connection, names, living).catch((error: unknown) => {
      log.warn('orphans.unasked', { reason: messageOf(error) });
    });
    if (tasks !== undefined && tasks > 0) log.info('orphans.given-back', { tasks });
    if (tasks !== undefined) return;
    await delay(ORPHAN_PAUSE_MS, undefined, { signal: over, ref: false }).catch(() => undefined);
  }
}

/** A handler has thrown where nobody catches it: this process cannot be trusted any more, but ends in order. */
async function leave(error: unknown, shared: SharedKeeper, { log }: ActorParts): Promise<void> {
  log.error('worker.crashed', { reason: error });
  await shared.close();
  process.exit(1);
}

async function load({ config, log, tell, onlyScraper }: ActorParts): Promise<Registry> {
  const { scrapers, problems } = await loadConfiguredScrapers(config);
  for (const { file, reason } of problems) log.error('scraper.broken', { file, reason });
  const wanted = [...scrapers, noop].filter(({ name }) => onlyScraper === undefined || name === onlyScraper);
  if (wanted.length === 0) {
    throw new Failure(
      'INVALID',
      `there is no scraper ${onlyScraper ?? ''} in ${config.worker.scrapers.join(', ')}`,
      {
        hint: `Known here: ${scrapers.map(({ name }) => name).join(', ') || 'none'}.`,
      },
    );
  }
  const registry = createRegistry(wanted);
  log.info('scrapers.loaded', { names: registry.names() });
  await tell({
    scrapers: [...registry.names()],
    ...(onlyScraper !== undefined && { only: true }),
    limits: { concurrency: config.worker.concurrency },
  });
  return registry;
}

/** What the other workers have loaded, by their heartbeats, and which scrapers share lanes. */
async function watchSurroundings(
  { bucket, log, id }: ActorParts,
  signal: AbortSignal,
): Promise<Surroundings> {
  const others = new Map<string, readonly string[]>();
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  await watchBeats(bucket, { log, signal }, ({ key, beat }) => {
    const scrapers = beat?.id === id ? undefined : scrapersOf(beat);
    if (scrapers?.join() === others.get(key)?.join()) return;
    if (scrapers) others.set(key, scrapers);
    else others.delete(key);
    tell();
  });
  const routes = await watchRoutes(bucket, signal, tell);
  return {
    others: () => [...others.values()],
    routes,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function limitsOf({ config, id }: ActorParts, leaseMs: number): WorkerLimits {
  const { tasks, worker, guard } = config;
  return {
    ...WORKER_DEFAULTS,
    worker: id,
    concurrency: worker.concurrency,
    leaseMs,
    prefetchMax: worker.prefetch,
    timeoutMs: tasks.timeout,
    settle: {
      ...SETTLE_DEFAULTS,
      retries: tasks.retries,
      backoff: { baseMs: tasks.retryBase, maxMs: tasks.retryMax },
    },
    poison: POISON_DEFAULTS,
    pressure: {
      memoryPercent: guard.memory,
      cpuPercent: guard.cpu,
      loopLagMs: guard.loopLag,
      intervalMs: guard.interval,
    },
  };
}
