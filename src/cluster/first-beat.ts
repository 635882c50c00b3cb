/** Who an actor is, as its first heartbeat tells. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Beat } from '../domain/beat.ts';
import type { Role } from '../domain/role.ts';
import { readPlace } from '../runtime/place.ts';

export function firstBeat(who: { role: Role; id: string; version: string }): Omit<Beat, 'beatAt'> {
  return {
    ...who,
    host: hostname(),
    place: readPlace(),
    pid: process.pid,
    startedAt: Date.now(),
    status: 'initializing',
    paused: false,
    inFlight: 0,
    limits: {},
  };
}

/** Host and pid for people, a random part because pids repeat between hosts and restarts. */
export function createActorId(): string {
  const host =
    hostname()
      .replace(/[^A-Za-z0-9_-]/g, '-')
      .slice(0, 40) || 'host';
  return `${host}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
