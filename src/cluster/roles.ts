/** Role → actor, with the ports it needs fitted to the NATS adapters. The one place to look when adding an actor. */
import type { Config } from '../config/fields.ts';
import type { BeatPatch } from '../domain/beat.ts';
import type { Role } from '../domain/role.ts';
import type { SinkSpec } from '../domain/sink.ts';
import type { Bucket } from '../nats/bucket.ts';
import type { Connection } from '../nats/connect.ts';
import type { Announce } from '../nats/events.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Gate } from '../runtime/gate.ts';
import type { Log } from '../telemetry/log.ts';
import type { LoopDelay } from '../telemetry/loop-delay.ts';
import type { ActorMetrics } from '../telemetry/metrics.ts';
import type { Tally } from '../telemetry/tally.ts';
import type { Names } from '../wire/names.ts';

export interface ActorParts {
  readonly config: Config;
  readonly names: Names;
  readonly connection: Connection;
  readonly bucket: Bucket;
  readonly id: string;
  /** When this life of it began, as its heartbeat says. */
  readonly startedAt: number; // epoch ms
  readonly log: Log;
  readonly registry: ActorMetrics['registry'];
  readonly loopDelay: LoopDelay;
  /** Where it counts what the whole cluster wants to know. */
  readonly tally: Tally;
  readonly announce: Announce;
  /** Closed while this actor is paused. */
  readonly gate: Gate;
  /** When the last heartbeat that was stored was sent (monotonic ms). */
  readonly lastBeatAt: () => number;
  /** A worker ends by itself when nothing is left of this run, or of anything. */
  readonly untilEmpty?: { readonly run?: string } | undefined;
  /** A worker loads this one alone. */
  readonly onlyScraper?: string | undefined;
  /** What a sink delivers, and where to. */
  readonly sink?: SinkSpec | undefined;
  /** Changes this actor's heartbeat record. */
  readonly tell: (patch: BeatPatch) => Promise<void>;
}

export type CreateActor = (parts: ActorParts) => Actor;

/** A process loads what its role needs, and no more: that is a quarter of its memory. */
export function loadRole(role: Role): Promise<CreateActor> {
  return LOAD[role]();
}

const LOAD: Readonly<Record<Role, () => Promise<CreateActor>>> = {
  coordinator: async () => (await import('./create-coordinator.ts')).createClusterCoordinator,
  'proxy-manager': async () => (await import('./create-proxy-manager.ts')).createClusterProxyManager,
  worker: async () => (await import('./create-worker.ts')).createClusterWorker,
  exporter: async () => (await import('./create-exporter.ts')).createClusterExporter,
  sink: async () => (await import('./create-sink.ts')).createClusterSink,
  autoscaler: async () => (await import('./create-autoscaler.ts')).createClusterAutoscaler,
};
