/**
 * Lets held-back tasks go on once nothing holds them back. One coordinator does this at a time, by the flags alone, so
 * it does not matter who took a flag away, or whether they lived to see what came of it. A worker may park a task by
 * a flag that has just gone: what was parked since the last look is looked at, and after a flag has gone everything.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../domain/failure.ts';
import type { TaskSpec } from '../../domain/task.ts';
import type { Log } from '../../telemetry/log.ts';

export interface ParkedKeeperPorts {
  /** Lets go on what was parked at that sequence or later and is not held; where to look next. */
  readonly release: (
    fromSeq: number,
    isHeld: (spec: TaskSpec) => boolean,
    over: AbortSignal,
  ) => Promise<{ readonly released: number; readonly nextSeq: number }>;
  readonly isHeld: (spec: TaskSpec) => boolean;
  /** Grows whenever a flag is taken away. */
  readonly lifted: () => number;
  readonly log: Log;
}

const EVERY_MS = 250;

/** Looks until the term is over. */
export async function keepParked(
  { release, isHeld, lifted, log }: ParkedKeeperPorts,
  over: AbortSignal,
): Promise<void> {
  let seen = lifted();
  let fromSeq = 1;
  const goesOn = (): boolean => !over.aborted;
  while (goesOn()) {
    const now = lifted();
    if (now !== seen) fromSeq = 1;
    seen = now;
    try {
      const { released, nextSeq } = await release(fromSeq, isHeld, over);
      fromSeq = nextSeq;
      if (released > 0) log.info('tasks.released', { tasks: released });
    } catch (error) {
      if (goesOn()) log.warn('tasks.unreleased', { reason: messageOf(error) });
    }
    await delay(EVERY_MS, undefined, { signal: over }).catch(() => undefined);
  }
}
