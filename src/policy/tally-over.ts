/** Whether nothing more comes from a life of an actor, by its heartbeat. A mistake costs nothing: it goes on under a new name. */
import type { Beat } from '../domain/beat.ts';

export interface LifeFacts {
  readonly startedAt: number; // epoch ms
  readonly closed: boolean;
  readonly storedAt: number; // epoch ms
}

/** A record may be heard of before the heartbeat of the same actor is. */
const SETTLE_MS = 2_000;

export function isLifeOver(
  { startedAt, closed, storedAt }: LifeFacts,
  beat: Pick<Beat, 'startedAt' | 'status'> | undefined,
  now: number,
): boolean {
  if (closed) return true;
  const isHis = beat?.startedAt === startedAt && beat.status !== 'stopped';
  return !isHis && now - storedAt >= SETTLE_MS;
}
