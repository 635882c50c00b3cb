/**
 * Lets held-back tasks go on once nothing holds them back. One coordinator does this at a time, by the flags alone, so
 * it does not matter who took a flag away, or whether they lived to see what came of it. A worker may park a task by
 * a flag that has just gone: what was parked since the last look is looked at, and after a flag has gone everything.
 */
import { messageOf } from '../../domain/failure.ts';
import type { TaskSpec } from '../../domain/task.ts';
import { createRest } from '../../runtime/rest.ts';
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
  /** Calls when one is taken away; returns the undo. */
  readonly onLifted: (listener: () => void) => () => void;
  readonly log: Log;
}

/** What was parked by a flag that had just gone is rare, and to look for it is a question to the server. */
const ASK_EVERY_MS = 1_000;
/** Later than this nobody parks by that flag, but one that slept: it is found all the same, only not so soon. */
const FRESH_MS = 60_000;
const ASK_SELDOM_MS = 10_000;

/** Looks until the term is over. */
export async function keepParked(
  { release, isHeld, lifted, onLifted, log }: ParkedKeeperPorts,
  over: AbortSignal,
): Promise<void> {
  let seen = lifted();
  let fromSeq = 1;
  // What the one before us has seen is not known.
  let liftedAt = performance.now();
  const goesOn = (): boolean => !over.aborted;
  const rest = createRest(over);
  const forget = onLifted(() => rest.end());
  while (goesOn()) {
    const now = lifted();
    if (now !== seen) {
      fromSeq = 1;
      liftedAt = performance.now();
    }
    seen = now;
    await look();
    await rest.take(performance.now() - liftedAt < FRESH_MS ? ASK_EVERY_MS : ASK_SELDOM_MS);
  }
  forget();

  async function look(): Promise<void> {
    try {
      const { released, nextSeq } = await release(fromSeq, isHeld, over);
      fromSeq = nextSeq;
      if (released > 0) log.info('tasks.released', { tasks: released });
    } catch (error) {
      if (goesOn()) log.warn('tasks.unreleased', { reason: messageOf(error) });
    }
  }
}
