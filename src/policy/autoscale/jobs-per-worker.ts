/** Tasks for each worker, between two thresholds: beyond the upper one there are too few workers, below the lower too many. */
import { backlogOf, type Load } from './load.ts';
import type { ScaleLimits } from './limits.ts';
import type { Need } from './policies.ts';

export function jobsPerWorker(load: Load, size: number, { jobsUp, jobsDown }: ScaleLimits): Need {
  const backlog = backlogOf(load);
  const each = backlog / Math.max(size, 1);
  if (each > jobsUp) return { workers: Math.max(size, Math.floor(backlog / jobsUp) + 1), reason: 'backlog' };
  if (each < jobsDown) {
    const fewer = backlog === 0 ? 0 : Math.floor(backlog / jobsDown) + 1;
    return { workers: Math.min(size, fewer), reason: 'idle' };
  }
  return { workers: size, reason: 'between' };
}
