/** The policies by name. Each says how many workers a load needs; cooldowns and limits are not its business. */
import { drainTime } from './drain-time.ts';
import { jobsPerWorker } from './jobs-per-worker.ts';
import type { PolicyName, ScaleLimits } from './limits.ts';
import type { Load } from './load.ts';
import { perWorker } from './per-worker.ts';

/** Why a load needs so many. */
export type NeedReason = 'backlog' | 'in-use' | 'idle' | 'between' | 'unknown-duration';

export interface Need {
  readonly workers: number;
  readonly reason: NeedReason;
}

/** `size`: the workers that there are, or that were ordered. */
export type Policy = (load: Load, size: number, limits: ScaleLimits) => Need;

export const POLICIES: Readonly<Record<PolicyName, Policy>> = {
  drain_time: drainTime,
  jobs_per_worker: jobsPerWorker,
  per_worker: perWorker,
};
