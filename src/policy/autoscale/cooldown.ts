/**
 * Two cooldowns, each with its own time. After workers were added, nothing more is changed until the first one is over:
 * what they do must be seen first. After some were taken away, no others are for the second; adding is free at once.
 */
import type { ScaleLimits } from './limits.ts';

export interface LastChanges {
  readonly lastUpAt?: number | undefined; // epoch ms
  readonly lastDownAt?: number | undefined;
}

/** Until when the cluster must not move that way; undefined when it may. */
export function restsUntil(
  way: 'up' | 'down',
  { lastUpAt = -Infinity, lastDownAt = -Infinity }: LastChanges,
  now: number,
  { cooldownUpMs, cooldownDownMs }: ScaleLimits,
): number | undefined {
  const afterUp = lastUpAt + cooldownUpMs;
  const until = way === 'up' ? afterUp : Math.max(afterUp, lastDownAt + cooldownDownMs);
  return now < until ? until : undefined;
}

/** The times after a decision was carried out. A step into the unknown is followed by a better one as soon as possible. */
export function noteChange(
  last: LastChanges,
  { action, reason }: { action: string; reason: string },
  now: number,
): LastChanges {
  if (reason === 'manual') return { lastUpAt: now, lastDownAt: now };
  if (action === 'up' && reason !== 'unknown-duration') return { ...last, lastUpAt: now };
  if (action === 'down') return { ...last, lastDownAt: now };
  return last;
}
