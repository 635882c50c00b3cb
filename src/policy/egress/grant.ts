/** Leases for one want: how many, with how much each. */
import { DIRECT } from '../../domain/egress.ts';
import type { LeaseGrant } from '../../wire/egress.ts';
import { isForOne, seekProxies, type Seeking } from './candidates.ts';
import { countsRequests } from './hosts.ts';
import { openLease } from './leases.ts';
import { pairRoomAt, type NoRoom, type Room } from './room.ts';
import { leaseSessionOf } from './sessions.ts';
import type { Egress, Identity, Lease } from './entities.ts';
import { nextId, type State } from './state.ts';
import { isCapped, roomOf } from './window.ts';

export const COUNT_MAX = 1_000;
/** A lease that keeps a distance is good for about so much work: short turns, and yet not one question per page. */
const TURN_MS = 1_000;
/** A start may be so late. */
const GRACE_MS = 2_000;
/** What one task holds alone is not given back after each page. */
export const OWNED_PERMITS = 10;

/** A want whose host has room. */
export interface Granting extends Seeking {
  readonly room: Room;
  /** One request only: to find out how the host may be asked. */
  readonly isScout: boolean;
}

export function leasesMax({ want, room, host, isScout }: Granting): number {
  if (isScout || host.limits.delayMs > 0) return 1;
  return Math.min(clamp(want.count), room.slots ?? COUNT_MAX);
}

function clamp(count: number): number {
  return Math.min(COUNT_MAX, Math.max(1, Math.floor(count)));
}

export function goesDirect(state: State, { want }: Seeking): boolean {
  if (want.only !== undefined) return want.only === DIRECT;
  return want.via === 'direct' || (want.via === 'auto' && state.registered === 0);
}

export function grantPlain(state: State, granting: Granting): LeaseGrant[] | NoRoom {
  const { host, now } = granting;
  if (goesDirect(state, granting)) {
    const { fitAt } = pairRoomAt(state, host, state.direct, now);
    if (fitAt > now) return { kind: 'none', reason: 'host_busy', at: fitAt };
    return share(state, granting, [state.direct]);
  }
  const picks = seekProxies(state, granting, leasesMax(granting));
  return 'kind' in picks ? picks : share(state, granting, picks);
}

/** Divides what is wanted, as evenly as each has room for. */
function share(state: State, granting: Granting, picks: readonly Egress[]): LeaseGrant[] {
  const { want, room } = granting;
  const wanted = want.exclusive ? Math.max(want.count, picks.length * OWNED_PERMITS) : want.count;
  const rooms = picks.map((egress) => permitRoom(state, granting, egress));
  const permits = divide(granting.isScout ? 1 : Math.min(clamp(wanted), room.permits), rooms);
  const most = want.exclusive ? clamp(want.slots) : null;
  const slots =
    room.slots === null
      ? undefined
      : divide(
          room.slots,
          picks.map(() => COUNT_MAX),
        );
  const grants: LeaseGrant[] = [];
  picks.forEach((egress, index) => {
    const count = permits[index] ?? 0;
    if (count > 0) grants.push(grantOne(state, granting, { egress, count, slots: slots?.[index] ?? most }));
  });
  return grants;
}

function divide(total: number, rooms: readonly number[]): number[] {
  let left = total;
  const parts = rooms.map((room, index) => {
    const part = Math.min(room, Math.ceil(left / (rooms.length - index)));
    left -= part;
    return part;
  });
  return parts.map((part, index) => {
    const more = Math.min(left, (rooms[index] ?? part) - part);
    left -= more;
    return part + more;
  });
}

/** How many permits one lease through it may have. */
export function permitRoom(state: State, { host, now }: Seeking, egress: Egress): number {
  const spacingMs = spacingOf(host);
  const turn = spacingMs > 0 ? Math.max(1, Math.floor(TURN_MS / spacingMs)) : COUNT_MAX;
  const pair = pairRoomAt(state, host, egress, now);
  return Math.min(turn, pair.permits, roomOf(egress.meter, egress.caps, now));
}

function spacingOf({ limits }: Seeking['host']): number {
  return Math.max(limits.delayMs, limits.egressDelayMs);
}

export interface Part {
  readonly egress: Egress;
  readonly count: number;
  readonly slots: number | null;
  readonly session?: Identity | undefined;
}

export function grantOne(state: State, granting: Granting, part: Part): LeaseGrant {
  const { request, want, host, room, now, random, isScout } = granting;
  const { egress, session } = part;
  const { jitter } = host.limits;
  const spacingMs = spacingOf(host);
  const isCounted = isScout || spacingMs > 0 || isCapped(egress.caps) || countsRequests(host);
  let startAt = Math.max(now, room.startAt, pairRoomAt(state, host, egress, now).startAt);
  // Chance stretches a wait; a long one was stretched already when it was told.
  if (startAt > now)
    startAt = Math.ceil(startAt + Math.min(state.limits.aheadMs, spacingMs * jitter * random()));
  const turnMs = startAt - now + (part.count - 1) * spacingMs * (1 + jitter) + GRACE_MS;
  const exclusive = isForOne(want, egress);
  const isOpen = !isCounted && part.slots === null && !exclusive && !session;
  const { leaseMs, flightMs, openLeaseMs } = state.limits;
  const longMs = isOpen ? openLeaseMs : leaseMs - flightMs;
  const lease = openLease(
    state,
    {
      id: nextId(state),
      worker: request.worker,
      host,
      scraper: want.scraper,
      egress,
      permits: isCounted ? part.count : null,
      slots: part.slots,
      spacingMs,
      exclusive,
      session,
      validMs: Math.ceil(spacingMs > 0 ? turnMs : longMs),
      startAt,
    },
    now,
  );
  return grantOf(lease, jitter, now);
}

function grantOf(lease: Lease, jitter: number, now: number): LeaseGrant {
  const grant: LeaseGrant = {
    id: lease.id,
    host: lease.host.name,
    egress: lease.egress.id,
    permits: lease.permits,
    slots: lease.slots,
    spacingMs: lease.spacingMs,
    jitter: lease.spacingMs > 0 ? jitter : 0,
    startInMs: Math.ceil(lease.startAt - now),
    validMs: lease.validMs,
  };
  return lease.session ? { ...grant, session: leaseSessionOf(lease.session, now) } : grant;
}
