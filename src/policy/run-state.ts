/**
 * The life of a run:
 *
 *   queued ──activate──▶ active ──finish──▶ done | done_with_errors
 *     │  ▲                │  ▲
 *   pause resume        pause resume
 *     ▼  │                ▼  │
 *     paused              paused            a paused run goes back to where it was
 *
 *   queued, active, paused ──cancel──▶ cancelled
 *
 * `done`, `done_with_errors` and `cancelled` are final, unless somebody puts dead tasks back (run-reopen.ts). A standing run, which takes what is submitted without a run
 * of its own, never ends.
 */
export type RunState = 'queued' | 'active' | 'paused' | 'done' | 'done_with_errors' | 'cancelled';
export type OpenState = 'queued' | 'active';

/** Where a run stands; only a paused one has something to go back to. */
export type RunPhase =
  | { readonly state: Exclude<RunState, 'paused'> }
  | { readonly state: 'paused'; readonly pausedFrom: OpenState };

export type RunEvent =
  | { readonly kind: 'activate' | 'pause' | 'resume' | 'cancel' }
  | { readonly kind: 'finish'; readonly withErrors: boolean };

export type Transition =
  { readonly ok: true; readonly phase: RunPhase } | { readonly ok: false; readonly problem: string };

const DONE_TO: Readonly<Record<RunEvent['kind'], string>> = {
  activate: 'activated',
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  finish: 'finished',
};

export function changeRun(phase: RunPhase, event: RunEvent): Transition {
  const next = nextPhase(phase, event);
  if (next) return { ok: true, phase: next };
  const must = event.kind === 'resume' ? ': only a paused run can' : '';
  const wording = DONE_TO[event.kind];
  return { ok: false, problem: `a run that is ${nameState(phase.state)} cannot be ${wording}${must}` };
}

function nextPhase(phase: RunPhase, event: RunEvent): RunPhase | undefined {
  const { state } = phase;
  const open = state === 'queued' || state === 'active';
  switch (event.kind) {
    case 'activate':
      return state === 'queued' ? { state: 'active' } : undefined;
    case 'pause':
      return open ? { state: 'paused', pausedFrom: state } : undefined;
    case 'resume':
      return state === 'paused' ? { state: phase.pausedFrom } : undefined;
    case 'cancel':
      return open || state === 'paused' ? { state: 'cancelled' } : undefined;
    case 'finish':
      if (state !== 'active') return undefined;
      return { state: event.withErrors ? 'done_with_errors' : 'done' };
  }
}

function nameState(state: RunState): string {
  return state === 'done_with_errors' ? 'done with errors' : state;
}

const ENDED: ReadonlySet<RunState> = new Set(['done', 'done_with_errors', 'cancelled']);

/** Whether a run is over for good. */
export function isEnded({ state }: { readonly state: RunState }): boolean {
  return ENDED.has(state);
}

/** The phase of a stored run. One that says paused and not from where was waiting in line. */
export function phaseOf({
  state,
  pausedFrom = 'queued',
}: {
  state: RunState;
  pausedFrom?: OpenState;
}): RunPhase {
  return state === 'paused' ? { state, pausedFrom } : { state };
}

/** The stored run in another phase. */
export function withPhase<Run extends { readonly state: RunState; readonly pausedFrom?: OpenState }>(
  run: Run,
  phase: RunPhase,
): Run {
  const next: Run & { pausedFrom?: OpenState } = { ...run, ...phase };
  if (phase.state !== 'paused') delete next.pausedFrom;
  return next;
}
