/** Who is alive, by their heartbeats, and who may take an id. The callers read and write; this only decides. */
import type { Beat } from '../domain/beat.ts';

export interface LivenessLimits {
  readonly intervalMs: number; // between two beats
  readonly deadAfterMs: number; // of silence
}

/** `stopped` said goodbye; `late` missed a beat or two; `dead` is silent for too long. */
export type Liveness = 'alive' | 'late' | 'dead' | 'stopped';

export interface Verdict {
  readonly beat: Beat;
  readonly liveness: Liveness;
  readonly silentMs: number;
}

const LATE_AFTER_INTERVALS = 2;

export function judgeLiveness(
  beats: readonly Beat[],
  now: number, // epoch ms
  limits: LivenessLimits,
): Verdict[] {
  return beats.map((beat) => {
    // A beat from the future tells of clocks that differ, not of a silence.
    const silentMs = Math.max(0, now - beat.beatAt);
    return { beat, silentMs, liveness: judge(beat, silentMs, limits) };
  });
}

function judge(beat: Beat, silentMs: number, { intervalMs, deadAfterMs }: LivenessLimits): Liveness {
  if (beat.status === 'stopped') return 'stopped';
  if (silentMs >= deadAfterMs) return 'dead';
  return silentMs >= LATE_AFTER_INTERVALS * intervalMs ? 'late' : 'alive';
}

export type Claim =
  | { readonly verdict: 'free' }
  | { readonly verdict: 'take-over'; readonly reason: 'stopped' | 'process-gone' }
  | { readonly verdict: 'refuse'; readonly message: string };

/**
 * Whether an actor may use the id that this record holds. Silence alone is no proof of death: the record expires by
 * itself when it is. Only a process that we can look for, and do not find, is dead for certain.
 */
export function decideClaim(
  existing: Beat | undefined,
  ownPlace: string,
  isRunning: (beat: Beat) => boolean,
): Claim {
  if (!existing) return { verdict: 'free' };
  if (existing.status === 'stopped') return { verdict: 'take-over', reason: 'stopped' };
  if (existing.place === ownPlace && !isRunning(existing))
    return { verdict: 'take-over', reason: 'process-gone' };
  const { role, id, host, pid, startedAt } = existing;
  const since = new Date(startedAt).toISOString();
  return {
    verdict: 'refuse',
    message: `another ${role} with id ${id} is running on host ${host} (pid ${pid}) since ${since}`,
  };
}
