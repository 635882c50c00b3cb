/** While it keeps house, a coordinator adds what dead actors have counted to the past: so nothing is left of them but their sums. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Beat } from '../domain/beat.ts';
import { messageOf } from '../domain/failure.ts';
import type { FollowBeats } from '../nats/shared-beats.ts';
import { foldTallies } from '../nats/tally-fold.ts';
import { watchTallies } from '../nats/tally-watch.ts';
import { isLifeOver } from '../policy/tally-over.ts';
import { keys } from '../wire/names.ts';
import type { ActorParts } from './roles.ts';

const EVERY_MS = 2_000;

export async function keepPast(
  { bucket, log, followBeats }: Pick<ActorParts, 'bucket' | 'log'> & { readonly followBeats: FollowBeats },
  over: AbortSignal,
): Promise<void> {
  const beats = new Map<string, Beat>();
  const [tallies] = await Promise.all([
    watchTallies(bucket, { log, signal: over }),
    followBeats(({ key, beat }) => {
      if (beat) beats.set(key, beat);
      else beats.delete(key);
    }, over),
  ]);
  const isOver = (): boolean => over.aborted;
  while (!isOver()) {
    await delay(EVERY_MS, undefined, { signal: over }).catch(() => undefined);
    const ended = [...tallies.lives()].filter(({ storedAt, record }) => {
      const { role, actor, startedAt, closed } = record;
      return isLifeOver({ startedAt, closed, storedAt }, beats.get(keys.beat(role, actor)), Date.now());
    });
    if (isOver() || ended.length === 0) continue;
    try {
      const lives = await foldTallies(bucket, ended, log);
      if (lives > 0) log.debug('tallies.added', { lives });
    } catch (error) {
      // Somebody was faster, or NATS is away: the next look finds what is left.
      log.debug('tallies.unadded', { reason: messageOf(error) });
    }
  }
}
