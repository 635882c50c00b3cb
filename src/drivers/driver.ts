/** Who starts and ends workers, and what it needs of the cluster to do so without interrupting anybody. */
import type { ScaleDriverName } from '../domain/scale.ts';
import type { WorkerSnapshot } from '../domain/snapshot.ts';

export interface ScaleChange {
  readonly from: number;
  readonly to: number;
  /** Everybody who is there now. */
  readonly workers: readonly WorkerSnapshot[];
}

export interface ScaleDriver {
  readonly name: ScaleDriverName;
  /** Workers that there are or will soon be, by its own knowledge; undefined where it has none. */
  count(workers: readonly WorkerSnapshot[]): Promise<number | undefined>;
  /** The most workers that there can be, with those that were counted last; absent: no limit that it knows of. */
  most?(): number | undefined;
  /** Resolves when the platform has taken the order. */
  apply(change: ScaleChange, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** What a driver may ask of workers. */
export interface WorkerControl {
  /** It takes no more, finishes what it has, however long that takes, and ends. */
  drain(id: string): Promise<void>;
  /** It takes no more, finishes what it has, and stays. */
  pause(id: string): Promise<void>;
  /** Resolves when all of them have nothing more in hand, or are gone, or the time is over. */
  untilIdle(ids: readonly string[], limitMs: number, signal: AbortSignal): Promise<void>;
}
