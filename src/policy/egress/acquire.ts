/** Answers what a worker wants, one want after the other. */
import type { AcquireReply, AcquireRequest, Want, WantAnswer } from '../../wire/egress.ts';
import { deny } from './deny.ts';
import { grantPlain } from './grant.ts';
import { grantSessions } from './grant-sessions.ts';
import { hostOf, noteAsked } from './hosts.ts';
import { areRulesKnown, noteAsking, robotsFor } from './robots-cache.ts';
import { roomAt } from './room.ts';
import type { State } from './state.ts';

export function acquire(
  state: State,
  request: AcquireRequest,
  now: number,
  random: () => number,
): AcquireReply {
  return { answers: request.wants.map((want) => answerWant(state, request, want, now, random)) };
}

function answerWant(
  state: State,
  request: AcquireRequest,
  want: Want,
  now: number,
  random: () => number,
): WantAnswer {
  const host = hostOf(state, want.host, now);
  noteAsked(state, host, want, now);
  const robots = robotsFor(state, want, now);
  if (robots.state === 'failed')
    return deny(state, host, { kind: 'none', reason: 'host_closed', at: robots.until }, now);
  if (robots.state === 'coming') return { kind: 'granted', leases: [], robots };
  const room = roomAt(state, host, { worker: request.worker, want, now });
  if (room.kind === 'none') return deny(state, host, stretched(room, host.limits, now, random), now);
  const isScout = robots.state === 'needed' && !areRulesKnown(state, want.host);
  const granting = { request, want, host, now, random, room, isScout };
  const leases = want.session ? grantSessions(state, granting) : grantPlain(state, granting);
  if ('kind' in leases) return deny(state, host, leases, now);
  if (robots.state === 'needed') noteAsking(state, want.host, now);
  return { kind: 'granted', leases, robots };
}

/** Chance stretches the distance between requests; never shortens it. */
function stretched<T extends { readonly at: number; readonly reason: string }>(
  none: T,
  { delayMs, jitter }: { readonly delayMs: number; readonly jitter: number },
  now: number,
  random: () => number,
): T {
  const isWait = none.reason === 'host_busy' && delayMs > 0 && jitter > 0 && none.at > now;
  return isWait ? { ...none, at: none.at + delayMs * jitter * random() } : none;
}
