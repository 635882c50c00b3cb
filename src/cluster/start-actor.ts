/**
 * One actor's life, joined together: connect, take the id, open page and mailbox, run, and undo all of it in reverse.
 * What the roles do differently is in roles.ts.
 */
import type { Config } from '../config/fields.ts';
import type { Failure } from '../domain/failure.ts';
import type { Role } from '../domain/role.ts';
import type { SinkSpec } from '../domain/sink.ts';
import { claimIdentity } from '../nats/beats.ts';
import { openBucket } from '../nats/bucket.ts';
import { connectNats, type Connection } from '../nats/connect.ts';
import { createAnnounce, type Announce } from '../nats/events.ts';
import type { Identity } from '../nats/identity.ts';
import { openMailbox } from '../nats/mailbox.ts';
import { createPublisher } from '../nats/publisher.ts';
import { keepTally } from '../nats/tally.ts';
import { createStop, untilAborted, type Actor, type StopControl } from '../runtime/actor.ts';
import { createCleanup, type Cleanup } from '../runtime/cleanup.ts';
import { systemClock } from '../runtime/clock.ts';
import { createGate } from '../runtime/gate.ts';
import { noLongerThan } from '../runtime/no-longer-than.ts';
import { createUsageReader } from '../runtime/own-usage.ts';
import { isProcessRunning } from '../runtime/place.ts';
import { watchLoopDelay } from '../telemetry/loop-delay.ts';
import { createActorMetrics, type ActorMetrics } from '../telemetry/metrics.ts';
import { servePage, type Page } from '../telemetry/page.ts';
import { createTally } from '../telemetry/tally.ts';
import type { Log } from '../telemetry/log.ts';
import { VERSION } from '../version.ts';
import { createNames, type Names } from '../wire/names.ts';
import { createVerbs } from './control-verbs.ts';
import { createActorId, firstBeat } from './first-beat.ts';
import { requireTopology } from './require-topology.ts';
import { loadRole, type CreateActor } from './roles.ts';

/** Whoever stops an actor waits for no more than a few seconds, and then kills it with all that it has not undone. */
const LAST_NEWS_MAX_MS = 2_000;

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
  /** Ends the wait for NATS, and for what the actor opens. */
  readonly stop?: AbortSignal | undefined;
  /** A worker ends by itself when nothing is left of this run, or of anything. */
  readonly untilEmpty?: { readonly run?: string } | undefined;
  /** A worker loads this scraper alone. */
  readonly onlyScraper?: string | undefined;
  /** What a sink delivers, and where to. */
  readonly sink?: SinkSpec | undefined;
}

interface Life {
  readonly config: Config;
  readonly role: Role;
  readonly id: string;
  readonly names: Names;
  readonly log: Log;
  readonly cleanup: Cleanup;
  readonly untilEmpty: StartOptions['untilEmpty'];
  readonly onlyScraper: StartOptions['onlyScraper'];
  readonly sink: StartOptions['sink'];
}

/** Resolves when the actor runs; when it rejects, nothing of it is left. */
export async function startActor(
  config: Config,
  { role, log: parentLog, stop, untilEmpty, onlyScraper, sink }: StartOptions,
): Promise<Running> {
  const id = config.actor.id ?? createActorId();
  const log = parentLog.child({ role, id });
  const life: Life = {
    config,
    role,
    id,
    names: createNames(config.namespace),
    log,
    cleanup: createCleanup(log),
    untilEmpty,
    onlyScraper,
    sink,
  };
  try {
    const [connection, createActor] = await Promise.all([connect(life, stop), loadRole(role)]);
    await requireTopology(connection, life);
    const running = await begin(life, { connection, createActor, stop });
    log.info('actor.started', { version: VERSION, page: running.url });
    return running;
  } catch (error) {
    await life.cleanup.run();
    throw error;
  }
}

async function connect(
  { config, role, id, log, cleanup }: Life,
  stop: AbortSignal | undefined,
): Promise<Connection> {
  const connection = await connectNats({
    access: config.nats,
    name: `trawl ${role} ${id}`,
    log,
    whenUnreachable: 'wait',
    ...(stop ? { stop } : {}),
  });
  cleanup.add('connection', () => connection.close());
  return connection;
}

async function begin(
  life: Life,
  parts: { connection: Connection; createActor: CreateActor; stop: AbortSignal | undefined },
): Promise<Running> {
  const { connection, createActor, stop } = parts;
  const { config, role, id, names, log, cleanup } = life;
  const control = createStop(config.actor.grace);
  const gate = createGate();
  const loopDelay = watchLoopDelay();
  cleanup.add('loop delay', () => loopDelay.stop());
  const bucket = openBucket(connection, names.bucket('cluster'));
  const made: { actor?: Actor } = {};
  const loop = loopDelay.openReader();
  const usage = createUsageReader();
  const inFlight = (): number => made.actor?.inFlight?.() ?? 0;
  const identity = await claimIdentity(bucket, {
    beat: firstBeat({ role, id, version: VERSION }),
    isRunning: isProcessRunning,
    deadAfterMs: config.heartbeat.deadAfter,
    log,
    measure: () => ({
      paused: !gate.isOpen(),
      loopDelayMs: loop.takeMaxMs(),
      inFlight: inFlight(),
      ...usage.read(),
      ...made.actor?.vitals?.(),
    }),
  });
  cleanup.add('heartbeat', () => identity.end());

  const metrics = createActorMetrics({
    role,
    id,
    version: VERSION,
    loopDelay,
    heartbeatFailures: () => identity.failures(),
    inFlight,
  });
  cleanup.add('connection metrics', countReconnects(connection, metrics));
  const tally = createTally();
  tally.started(role);
  const { startedAt } = identity.beat();
  const keeper = keepTally(bucket, {
    role,
    actor: id,
    startedAt,
    take: () => tally.take(),
    onCount: (listener) => tally.onCount(listener),
    log,
  });
  cleanup.add('tally', () => keeper.close());
  void keeper.flush();
  const page = await openPage(life, { connection, identity, metrics, actor: () => made.actor });
  const announce = await openNews(life, connection);

  const actor = createActor({
    config,
    names,
    connection,
    bucket,
    id,
    startedAt: identity.beat().startedAt,
    log,
    registry: metrics.registry,
    loopDelay,
    tally,
    announce,
    gate,
    lastBeatAt: () => identity.storedAt(),
    untilEmpty: life.untilEmpty,
    onlyScraper: life.onlyScraper,
    sink: life.sink,
    tell: (patch) => identity.update(patch),
  });
  made.actor = actor;
  const verbs = { ...createVerbs({ identity, control, gate, log }), ...actor.verbs };
  cleanup.add('mailbox', await openMailbox(connection, { names, role, id, version: VERSION, verbs }));
  identity.start(config.heartbeat.interval);
  control.stop.quiet.addEventListener('abort', () => void identity.update({ status: 'draining' }), {
    once: true,
  });

  const unfit = watchFitness({ identity, connection, control });
  const ended = actor.run(control.stop).finally(async () => {
    control.settled();
    // One that ends by itself, or fails, goes through the same states as one that was told to.
    if (identity.beat().status === 'running') await identity.update({ status: 'draining' });
    await cleanup.run();
  });
  const done = ended.then(() => {
    const failure = unfit();
    if (failure) throw failure;
    log.info('actor.stopped');
  });
  done.catch(() => undefined); // whoever gets it hears of it
  const stops = stop ? [control.stop.quiet, stop] : [control.stop.quiet];
  await Promise.race([actor.opened, ended, ...stops.map(untilAborted)]);
  if (!stops.some(({ aborted }) => aborted)) await identity.update({ status: 'running', http: page.url });
  return { role, id, url: page.url, done, quiet: () => control.quiet(), abort: () => control.abort() };
}

async function openPage(
  { config, role, cleanup }: Life,
  parts: {
    connection: Connection;
    identity: Identity;
    metrics: ActorMetrics;
    /** Undefined until it is made. */
    actor: () => Actor | undefined;
  },
): Promise<Page> {
  const { connection, identity, metrics, actor } = parts;
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
      text: (await metrics.registry.metrics()) + ((await actor()?.metrics?.()) ?? ''),
    }),
    others: () => actor()?.pages ?? {},
  });
  cleanup.add('page', () => page.close());
  return page;
}

/** What the actor has to tell the cluster is stored before its connection closes, unless the server keeps silent. */
async function openNews({ config, names, log, cleanup }: Life, connection: Connection): Promise<Announce> {
  const publisher = await createPublisher(connection, {
    stream: names.stream('EVENTS'),
    durability: config.durability,
    window: config.publisher.window,
    batch: config.publisher.batch,
    ackTimeoutMs: config.publisher.ackTimeout,
    log,
  });
  cleanup.add('news', async () => {
    if (connection.isUp()) await noLongerThan(systemClock, LAST_NEWS_MAX_MS, publisher.flush());
    await publisher.close();
  });
  return createAnnounce(publisher, { names, log });
}

function countReconnects(connection: Connection, metrics: ActorMetrics): () => void {
  return connection.onChange((up) => {
    metrics.setNatsUp(up);
    if (up) metrics.natsReconnects.inc();
  });
}

/** What makes an actor unfit to go on ends it at once: somebody else may already stand in its place. */
function watchFitness(parts: {
  identity: Identity;
  connection: Connection;
  control: StopControl;
}): () => Failure | undefined {
  const { identity, connection, control } = parts;
  let unfit: Failure | undefined;
  const giveUp = (failure: Failure): void => {
    unfit ??= failure;
    control.abort();
  };
  identity.lost.addEventListener('abort', () => giveUp(identity.lost.reason as Failure), { once: true });
  void connection.ended.then((failure) => {
    if (failure) giveUp(failure);
  });
  return () => unfit;
}
