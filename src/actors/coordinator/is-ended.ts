/** Whether a run is over for good. */
import type { RunState } from '../../policy/run-state.ts';

const ENDED: ReadonlySet<RunState> = new Set(['done', 'done_with_errors', 'cancelled']);

export function isEnded({ state }: { readonly state: RunState }): boolean {
  return ENDED.has(state);
}
