/** Where a run of a scraper takes place: in the process that was asked for it, or on the cluster. */
import type { Mode } from '../domain/mode.ts';

export interface ModeFacts {
  /** What the user said this time. */
  readonly asked: Mode | undefined;
  /** What the registry says of this scraper. */
  readonly registered: Mode | undefined;
  /** What the scraper says of itself. */
  readonly own: Mode | undefined;
  /** Whether this machine has the scraper at all. */
  readonly isKnownHere: boolean;
}

export interface ModeDecision {
  readonly mode: Mode;
  readonly reason: 'asked' | 'registry' | 'scraper' | 'elsewhere' | 'default';
}

export function decideMode({ asked, registered, own, isKnownHere }: ModeFacts): ModeDecision {
  if (asked) return { mode: asked, reason: 'asked' };
  if (registered) return { mode: registered, reason: 'registry' };
  if (own) return { mode: own, reason: 'scraper' };
  // One that is not here cannot run here; a worker somewhere may have it.
  if (!isKnownHere) return { mode: 'distributed', reason: 'elsewhere' };
  return { mode: 'single', reason: 'default' };
}
