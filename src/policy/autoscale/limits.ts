/** The limits within which the size of the cluster moves, and the ways to tell how many workers a load needs. */
import { SCALE_POLICIES } from '../../domain/scale.ts';

export const POLICY_NAMES = SCALE_POLICIES;
export type PolicyName = (typeof POLICY_NAMES)[number];

export interface ScaleLimits {
  readonly policy: PolicyName;
  readonly min: number;
  readonly max: number;
  readonly cooldownUpMs: number;
  readonly cooldownDownMs: number;
  /** Older measurements are none. */
  readonly staleAfterMs: number;
  /** `drain_time`: what waits is to be done within this. */
  readonly drainTargetMs: number;
  /** `jobs_per_worker`: more than this for each worker, and there are too few of them. */
  readonly jobsUp: number;
  /** `jobs_per_worker`: fewer than this for each worker, and there are too many. */
  readonly jobsDown: number;
  /** `per_worker`: one worker for so many tasks. */
  readonly perWorker: number;
  /** Tasks that a worker runs at once, where none is there that could tell. */
  readonly slots: number;
}

export const SCALE_DEFAULTS: ScaleLimits = {
  policy: 'drain_time',
  min: 2,
  max: 20,
  cooldownUpMs: 60_000,
  cooldownDownMs: 300_000,
  staleAfterMs: 90_000,
  drainTargetMs: 30_000,
  jobsUp: 10,
  jobsDown: 2,
  perWorker: 1_000,
  slots: 3,
};
