/**
 * Whether and when a process of the local cluster that ended is started again. The wait doubles with each exit in a row,
 * up to a limit, with jitter so that processes that fell together do not come back together. A run that lasted
 * `stableMs` starts the count anew.
 */
export interface Exit {
  readonly ranMs: number;
  readonly code: number | null;
  readonly signal: string | null;
}

export interface RestartFacts {
  readonly kind: 'actor' | 'server';
  /** Oldest first; the last one is the exit to decide on. */
  readonly exits: readonly Exit[];
  /** In [0, 1). */
  readonly random: number;
}

export interface RestartLimits {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly stableMs: number;
}

export type RestartDecision =
  | { readonly action: 'restart'; readonly delayMs: number; readonly reason: 'first' | 'repeated' }
  | { readonly action: 'leave'; readonly reason: 'ended' }
  | { readonly action: 'give-up'; readonly reason: 'misused' | 'not-startable' };

/** An actor's own word for "my settings are wrong": the same settings fail the same way. */
const MISUSED = 2;
/** What a shell says, and what we note ourselves, when there is no such program. */
export const NOT_STARTABLE = 127;

export function decideRestart(facts: RestartFacts, limits: RestartLimits): RestartDecision {
  const last = facts.exits.at(-1);
  if (last?.code === NOT_STARTABLE) return { action: 'give-up', reason: 'not-startable' };
  // A Go program that panics ends with 2 as well, so the code says nothing about a server's settings.
  if (facts.kind === 'actor' && last?.code === MISUSED) return { action: 'give-up', reason: 'misused' };

  // An actor ends well only when it was drained or stopped through its mailbox: somebody wants it gone.
  if (facts.kind === 'actor' && last?.code === 0) return { action: 'leave', reason: 'ended' };

  const inARow = countInARow(facts.exits, limits.stableMs);
  const fullMs = Math.min(limits.baseMs * 2 ** (inARow - 1), limits.maxMs);
  return {
    action: 'restart',
    delayMs: fullMs * (0.5 + facts.random / 2),
    reason: inARow === 1 ? 'first' : 'repeated',
  };
}

/** Exits since the last stable run, that run's own exit included: at least 1. */
function countInARow(exits: readonly Exit[], stableMs: number): number {
  const stableAt = exits.findLastIndex((exit) => exit.ranMs >= stableMs);
  return Math.max(1, exits.length - Math.max(stableAt, 0));
}
