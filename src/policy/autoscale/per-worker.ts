/** One worker for so many tasks. */
import { backlogOf, type Load } from './load.ts';
import type { ScaleLimits } from './limits.ts';
import type { Need } from './policies.ts';

export function perWorker(load: Load, size: number, limits: ScaleLimits): Need {
  const workers = Math.ceil(backlogOf(load) / limits.perWorker);
  return { workers, reason: workers >= size ? 'backlog' : 'idle' };
}
