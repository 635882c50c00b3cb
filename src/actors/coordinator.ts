/**
 * Coordinator: n copies, one leads. The leader follows the heartbeats and tells the cluster who came, left or
 * was lost, because nobody else looks at a record that merely stops changing.
 */
import type { Beat } from '../domain/beat.ts';
import { decideActorEvent, type ActorEvent } from '../policy/actor-event.ts';
import { untilAborted, type Actor } from '../runtime/actor.ts';
import type { Lead } from '../runtime/leadership.ts';

export interface BeatChange {
  readonly key: string;
  readonly beat: Beat | undefined; // gone: it expired, or was removed
}

export interface CoordinatorPorts {
  readonly lead: Lead;
  /** Calls back with the beats that are there, then with each change, until the signal aborts. */
  watchBeats(listener: (change: BeatChange) => void, signal: AbortSignal): Promise<void>;
  announce(event: ActorEvent): void;
}

export function createCoordinator(ports: CoordinatorPorts): Actor {
  return { role: 'coordinator', run: (stop) => ports.lead(stop.quiet, ({ over }) => follow(over)) };

  async function follow(over: AbortSignal): Promise<void> {
    const known = new Map<string, Beat>();
    await ports.watchBeats(({ key, beat }) => {
      const event = decideActorEvent(known.get(key), beat);
      if (beat) known.set(key, beat);
      else known.delete(key);
      if (event) ports.announce(event);
    }, over);
    await untilAborted(over);
  }
}
