/** What a change of an actor's heartbeat record means for the cluster, if anything. */
import type { Beat } from '../domain/beat.ts';

export interface ActorEvent {
  readonly kind: 'joined' | 'draining' | 'left' | 'lost';
  readonly actor: Beat;
}

/** The life that ended without a word, if one did: its record is gone, or belongs to a new life under the same id. */
export function findLostLife(before: Beat | undefined, after: Beat | undefined): Beat | undefined {
  if (!before || before.status === 'stopped') return undefined;
  return after?.startedAt === before.startedAt ? undefined : before;
}

/**
 * A record that is gone without having said `stopped` belonged to an actor that died. One life is told by
 * `startedAt`: a new life under an old id is a new arrival.
 */
export function decideActorEvent(before: Beat | undefined, after: Beat | undefined): ActorEvent | undefined {
  if (!after) {
    const lost = findLostLife(before, after);
    return lost && { kind: 'lost', actor: lost };
  }
  const sameLife = before?.startedAt === after.startedAt;
  if (sameLife && before.status === after.status) return undefined;
  switch (after.status) {
    case 'initializing':
      return undefined;
    case 'running':
      return { kind: 'joined', actor: after };
    case 'draining':
      return { kind: 'draining', actor: after };
    case 'stopped':
      return sameLife ? { kind: 'left', actor: after } : undefined;
  }
}
