/**
 * As many workers as keep up with what comes in and bring the backlog to its end within the target, by the measured
 * time of an attempt. Workers that are in use are kept, whatever the backlog: a busy worker costs nothing that an idle
 * one later would not cost too. So workers are added only where somebody would wait too long, and taken away only
 * where they stand idle.
 */
import { backlogOf, usedSlots, type Load } from './load.ts';
import type { ScaleLimits } from './limits.ts';
import type { Need } from './policies.ts';

/**
 * The part of what keeps coming in that slots are held ready for. The rest, if it does come, shows as a backlog and is
 * drained with it: in the simulation whole readiness costs 5 % more and saves half a second of waiting.
 */
const KEEP_UP = 5 / 6;

export function drainTime(load: Load, size: number, limits: ScaleLimits): Need {
  const slots = load.slots ?? limits.slots;
  const kept = Math.min(size, Math.ceil(usedSlots(load) / slots));
  const isKnown = load.taskMs !== undefined;
  const needed = isKnown ? drain(load, load.taskMs, slots, limits) : guess(load, size, slots, limits);
  if (needed > size) return { workers: needed, reason: isKnown ? 'backlog' : 'unknown-duration' };
  if (kept > needed) return { workers: kept, reason: 'in-use' };
  return { workers: needed, reason: needed === size ? 'backlog' : 'idle' };
}

function drain(load: Load, taskMs: number, slots: number, { drainTargetMs }: ScaleLimits): number {
  const backlog = backlogOf(load);
  // Where one attempt takes longer than the target, more slots than tasks would not help.
  const toDrain = Math.min(backlog, (backlog * taskMs) / drainTargetMs);
  const toKeepUp = ((load.inflowPerSecond ?? 0) * taskMs * KEEP_UP) / 1_000;
  return Math.ceil((toDrain + toKeepUp) / slots);
}

/** Nobody knows yet how long a task takes: by number, once every slot is busy and more wait. */
function guess(load: Load, size: number, slots: number, { jobsUp }: ScaleLimits): number {
  const backlog = backlogOf(load);
  const enough = Math.ceil(backlog / slots);
  const isFull = load.ready > 0 && load.live >= size && load.busy - load.starved >= load.live * slots;
  const guessed = isFull ? Math.max(size, Math.floor(backlog / jobsUp) + 1) : size;
  return Math.min(guessed, enough);
}
