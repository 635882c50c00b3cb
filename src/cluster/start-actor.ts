/**
 * One actor's life, joined together: connect, take the id, open page and mailbox, run, and undo all of it in reverse.
 * What the roles do differently is in roles.ts.
 */
import { hostname } from 'node:os';
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/fields.ts';
import type { Beat } from '../domain/beat.ts';
import { Failure } from '../domain/failure.ts';
import type { Role } from '../domain/role.ts';
import { claimIdentity } from '../nats/beats.ts';
import { openBucket } from '../nats/bucket.ts';
import { connectNats } from '../nats/connect.ts';
import type { Identity } from '../nats/identity.ts';
import { openMailbox } from '../nats/mailbox.ts';
import { createStop } from '../runtime/actor.ts';
import { createCleanup, type Cleanup } from '../runtime/cleanup.ts';
import { createGate } from '../runtime/gate.ts';
import { isProcessRunning, readPlace } from '../runtime/place.ts';
import { watchLoopDelay } from '../telemetry/loop-delay.ts';
import { createActorMetrics } from '../telemetry/metrics.ts';
import { servePage } from '../telemetry/page.ts';
import type { Log } from '../telemetry/log.ts';
import { VERSION } from '../version.ts';
import { createNames } from '../wire/names.ts';
import { createVerbs } from './control-verbs.ts';
import { requireTopology } from './require-topology.ts';
import { createActor, type ActorParts } from './roles.ts';

export interface Running {
  readonly role: Role;
  readonly id: string;
  /** Where its health and metrics page is. */
  readonly url: string;
  /** Ends well after a stop; rejects when the actor cannot go on. */
  readonly done: Promise<void>;
  /** Take no new work; the rest is given back after the grace. */
  quiet(): void;
  /** Give back at once. */
  abort(): void;
}

export interface StartOptions {
  readonly role: Role;
  readonly log: Log;
  /** Ends the wait for NATS. */
  readonly stop?: AbortSignal | undefined;
}

/** Resolves when the actor runs. */
export async function startActor(config: Config, options: StartOptions): Promise<Running> {
  const { role } = options;
  const id = config.actor.id ?? createActorId();
  const log = options.log.child({ role, id });
  const cleanup = createCleanup(log);
  try {
    const life = await prepare(config, { ...options, id, log, cleanup });
    log.info('actor.started', { version: VERSION, page: life.url });
    return { ...life, role, id };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

interface Preparation extends StartOptions {
  readonly id: string;
  readonly cleanup: Cleanup;
}

async function prepare(
  config: Config,
  { role, id, log, stop, cleanup }: Preparation,
): Promise<Omit<Running, 'role' | 'id'>> {
  const names = createNames(config.namespace);
  const control = createStop(config.actor.grace);
  const gate = createGate();
  const loopDelay = watchLoopDelay();
  cleanup.add('loop delay', () => loopDelay.stop());

  const connection = await connectNats({
    access: config.nats,
    name: `trawl ${role} ${id}`,
    log,
    whenUnreachable: 'wait',
    ...(stop ? { stop } : {}),
  });
  cleanup.add('connection', () => connection.close());
  await requireTopology(connection, { config, role, log });

  const bucket = openBucket(connection, names.bucket('cluster'));
  const work = { inFlight: () => 0 };
  const identity = await claimIdentity(bucket, {
    beat: firstBeat({ role, id, concurrency: 0 }),
    isRunning: isProcessRunning,
    deadAfterMs: config.heartbeat.deadAfter,
    log,
    measure: () => ({
      inFlight: work.inFlight(),
      paused: !gate.isOpen(),
      loopDelayMs: loopDelay.takeMaxMs(),
    }),
  });
  cleanup.add('heartbeat', () => identity.end());

  const metrics = createActorMetrics({
    role,
    id,
    version: VERSION,
    loopDelay,
    heartbeatFailures: () => identity.failures(),
    inFlight: () => work.inFlight(),
  });
  cleanup.add(
    'reconnect counter',
    connection.onChange((up) => {
      metrics.setNatsUp(up);
      if (up) metrics.natsReconnects.inc();
    }),
  );
  const page = await servePage({
    host: config.http.host,
    port: role === 'exporter' ? config.http.port : config.http.actorPort,
    healthy: () => ({ ok: !identity.lost.aborted, reason: identity.beat().status }),
    ready: () => ({
      ok: connection.isUp() && identity.beat().status === 'running',
      reason: connection.isUp() ? identity.beat().status : 'not connected to NATS',
    }),
    metrics: async () => ({
      contentType: metrics.registry.contentType,
      text: await metrics.registry.metrics(),
    }),
  });
  cleanup.add('page', () => page.close());
  const closeMailbox = await openMailbox(connection, {
    names,
    role,
    id,
    version: VERSION,
    verbs: createVerbs({ identity, control, gate, log }),
  });
  cleanup.add('mailbox', closeMailbox);

  const parts: ActorParts = { config, names, connection, bucket, id, log, registry: metrics.registry };
  const actor = createActor(role, parts);
  await identity.update({ status: 'running', http: page.url });
  identity.start(config.heartbeat.interval);

  // What makes this actor unfit to go on ends it at once: somebody else may already stand in its place.
  let unfit: Failure | undefined;
  const giveUp = (failure: Failure | undefined): void => {
    unfit ??= failure;
    control.abort();
  };
  identity.lost.addEventListener('abort', () => giveUp(identity.lost.reason as Failure), { once: true });
  void connection.ended.then((failure) => {
    if (failure) giveUp(failure);
  });
  control.stop.quiet.addEventListener('abort', () => void identity.update({ status: 'draining' }), {
    once: true,
  });

  const done = actor.run(control.stop).finally(async () => {
    control.settled();
    await announceDraining(identity);
    await cleanup.run();
  });
  return {
    url: page.url,
    done: done.then(() => {
      if (unfit) throw unfit;
      log.info('actor.stopped');
    }),
    quiet: () => control.quiet(),
    abort: () => control.abort(),
  };
}

/** An actor that ends by itself, or fails, goes through the same states as one that was told to. */
async function announceDraining(identity: Identity): Promise<void> {
  if (identity.beat().status === 'running') await identity.update({ status: 'draining' });
}

function firstBeat({
  role,
  id,
  concurrency,
}: {
  role: Role;
  id: string;
  concurrency: number;
}): Omit<Beat, 'beatAt'> {
  return {
    id,
    role,
    host: hostname(),
    place: readPlace(),
    pid: process.pid,
    version: VERSION,
    startedAt: Date.now(),
    status: 'initializing',
    paused: false,
    inFlight: 0,
    limits: concurrency > 0 ? { concurrency } : {},
  };
}

/** Host and pid for people, a random part because pids repeat between hosts and restarts. */
function createActorId(): string {
  const host =
    hostname()
      .replace(/[^A-Za-z0-9_-]/g, '-')
      .slice(0, 40) || 'host';
  return `${host}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
