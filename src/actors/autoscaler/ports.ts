/** What an autoscaler needs from the rest of the world. */
import type { WorkerSnapshot } from '../../domain/snapshot.ts';
import type { Guard } from '../../policy/autoscale/caps.ts';
import type { ScaleDecision } from '../../policy/autoscale/decide.ts';
import type { ScaleLimits } from '../../policy/autoscale/limits.ts';
import type { Load } from '../../policy/autoscale/load.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ScaleRecord } from '../../wire/scale-record.ts';

export interface Measured {
  readonly load: Load;
  readonly workers: readonly WorkerSnapshot[];
}

export interface ScaleTerm {
  /** Aborts when the lead is lost or the actor stops. */
  readonly over: AbortSignal;
  load(): Promise<ScaleRecord | undefined>;
  /** Stores only while we lead: CONFLICT otherwise. */
  save(record: ScaleRecord): Promise<void>;
  /** Answers until the undo is called. */
  serve(desk: ScaleDesk): Promise<() => Promise<void>>;
}

export interface ScaleDesk {
  scale(count: number): Promise<ScaleDecision>;
  status(): object;
}

export interface AutoscalerPorts {
  readonly id: string;
  lead(quiet: AbortSignal, work: (term: ScaleTerm) => Promise<void>): Promise<void>;
  measure(): Promise<Measured>;
  /** Workers by the driver's own knowledge. */
  count(workers: readonly WorkerSnapshot[]): Promise<number | undefined>;
  apply(
    change: { from: number; to: number; workers: readonly WorkerSnapshot[] },
    signal: AbortSignal,
  ): Promise<void>;
  /** What the machine has to say; undefined where the platform places workers itself. */
  guard(workers: number): Guard | undefined;
  announce(kind: 'decided' | 'failed', facts: object): void;
  now(): number; // epoch ms
  readonly log: Log;
}

export interface AutoscalerOptions {
  readonly limits: ScaleLimits;
  readonly intervalMs: number;
  readonly driver: string;
  readonly source: string;
}
