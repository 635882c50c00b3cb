/** When a run is over. Every run that is fed and worked on ends; only a standing one does not. */
import type { RunState } from './run-state.ts';
import { countTasks, type CountRecord } from './counters.ts';

export interface RunFacts {
  readonly state: RunState;
  /** It takes what is submitted without a run of its own, so there is always more to come. */
  readonly standing: boolean;
  /** The submitter has said that nothing more comes. */
  readonly sealed: boolean;
  /**
   * Submissions of this run that are stored but not yet taken in. A task submits before it settles, so this number
   * belongs between two readings of the counts that agree: then nothing can hide between the two.
   */
  readonly intakeOpen: number;
  /** Epoch ms; undefined: never yet. */
  readonly lastSubmittedAt: number | undefined;
  readonly activeSince: number; // epoch ms
}

export interface RunEndLimits {
  readonly idleEndMs: number;
}

export const RUN_END_DEFAULTS: RunEndLimits = { idleEndMs: 30_000 };

export type RunDecision =
  | {
      readonly verdict: 'end';
      readonly state: 'done' | 'done_with_errors';
      readonly reason: 'sealed' | 'idle';
    }
  | { readonly verdict: 'go-on'; readonly reason: 'standing' | 'not-active' | 'intake-open' | 'tasks-open' }
  /** Everything is settled, but more may be submitted until `untilMs`. */
  | { readonly verdict: 'go-on'; readonly reason: 'not-sealed'; readonly untilMs: number };

export function decideRun(
  run: RunFacts,
  counts: CountRecord,
  when: { readonly now: number; readonly limits: RunEndLimits },
): RunDecision {
  if (run.standing) return { verdict: 'go-on', reason: 'standing' };
  if (run.state !== 'active') return { verdict: 'go-on', reason: 'not-active' };
  if (run.intakeOpen > 0) return { verdict: 'go-on', reason: 'intake-open' };
  const { open, dead } = countTasks(counts);
  if (open > 0) return { verdict: 'go-on', reason: 'tasks-open' };

  const state = dead > 0 ? 'done_with_errors' : 'done';
  if (run.sealed) return { verdict: 'end', state, reason: 'sealed' };
  // A run that waited in line for hours was idle through no fault of its submitter.
  const untilMs = Math.max(run.lastSubmittedAt ?? 0, run.activeSince) + when.limits.idleEndMs;
  if (when.now < untilMs) return { verdict: 'go-on', reason: 'not-sealed', untilMs };
  return { verdict: 'end', state, reason: 'idle' };
}
