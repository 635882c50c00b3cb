/** A run whose dead tasks are put back has work again: if it had ended it goes on, and it ends anew when they have. */
import { isEnded, withPhase, type OpenState, type RunState } from './run-state.ts';

interface Reopenable {
  readonly state: RunState;
  readonly pausedFrom?: OpenState;
  readonly standing: boolean;
  readonly taken: number;
  readonly lastSubmitAt: number; // epoch ms
  readonly sealed?: { readonly messages: number };
  readonly endedAt?: number;
  readonly final?: Readonly<Record<string, number>>;
}

/** Not while its open tasks are still being cancelled: a task that is put back would be among them. */
export function mayReopen({ state, final }: Pick<Reopenable, 'state' | 'final'>): boolean {
  return state !== 'cancelled' || final !== undefined;
}

/**
 * The run, once tasks were put back into it; undefined when there is nothing to change. Also one that has not ended is
 * changed: whoever is about to end it has counted before, and must notice.
 */
export function reopenRun<Run extends Reopenable>(run: Run, now: number): Run | undefined {
  if (run.standing || !mayReopen(run)) return undefined;
  const noted = { ...run, lastSubmitAt: Math.max(now, run.lastSubmitAt + 1) };
  if (!isEnded(run)) return noted;
  // Nothing more was going to come; so it ends with the last of these tasks, and not some time after.
  const sealed = run.sealed ?? { messages: run.taken };
  const reopened: Run & { endedAt?: number; final?: unknown } = {
    ...withPhase(noted, { state: 'active' }),
    sealed,
  };
  delete reopened.endedAt;
  delete reopened.final;
  return reopened;
}
