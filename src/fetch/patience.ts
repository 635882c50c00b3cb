/**
 * How long a request waits for its permit. The first one of an attempt does not wait for long: its task is put aside
 * instead, so that a slow host keeps no slot from the others. An attempt that has had pages would have to begin with the
 * first one again, for ever if the host wants a pause between any two; so its next request waits.
 */
export interface Patience {
  /** A single wait. */
  readonly onceMs: number;
  /** All waits for one permit. */
  readonly allMs: number;
  /** Until somebody answers. */
  readonly silenceMs: number;
}

const FIRST: Patience = {
  onceMs: 1_000,
  allMs: 2_000,
  silenceMs: 6_000, // longer than it takes until another manager leads
};
/** Less than half of a task's lease: who waits here gives no sign of life. */
const BEGUN_MS = 120_000;
const BEGUN: Patience = { onceMs: BEGUN_MS, allMs: BEGUN_MS, silenceMs: BEGUN_MS };

export function patienceOf({ begun }: { readonly begun: boolean }): Patience {
  return begun ? BEGUN : FIRST;
}

export function mayWait(
  { request, since }: { readonly request: { readonly begun: boolean }; readonly since: number },
  { now, waitMs }: { readonly now: number; readonly waitMs: number },
): boolean {
  const { onceMs, allMs } = patienceOf(request);
  return waitMs <= onceMs && now + waitMs - since <= allMs;
}
