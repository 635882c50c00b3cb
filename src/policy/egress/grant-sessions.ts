/** Leases with a session each: old ones first, the least recently used before the others, then new ones. */
import type { LeaseGrant } from '../../wire/egress.ts';
import { seekProxies } from './candidates.ts';
import { goesDirect, grantOne, leasesMax, OWNED_PERMITS, permitRoom, type Granting } from './grant.ts';
import { pairRoomAt, roomAt, SOON_MS, type NoRoom } from './room.ts';
import { createSession, isUsable, mayCreateSession, sessionsFor } from './sessions.ts';
import type { Egress, Identity } from './entities.ts';
import type { State } from './state.ts';

export function grantSessions(state: State, granting: Granting): LeaseGrant[] | NoRoom {
  const { want } = granting;
  if (typeof want.session === 'object') return grantThis(state, granting, want.session.id);
  const max = leasesMax(granting);
  const usable = sessionsFor(state, granting.host.name, want.scraper);
  const grants: LeaseGrant[] = [];
  let why: NoRoom | undefined;
  for (const identity of usable) {
    if (grants.length === max) return grants;
    if (identity.lease || !isOnTheWay(state, granting, identity)) continue;
    const grant = tryWith(state, granting, identity.egress, identity);
    if ('kind' in grant) why = earlier(why, grant);
    else grants.push(grant);
  }
  for (let count = usable.length; grants.length < max; count += 1) {
    if (!mayCreateSession(state, count)) {
      why = earlier(why, noSession(granting));
      break;
    }
    const grant = tryNew(state, granting);
    if ('kind' in grant) {
      why = grant;
      break;
    }
    grants.push(grant);
  }
  return grants.length > 0 || !why ? grants : why;
}

function earlier(a: NoRoom | undefined, b: NoRoom): NoRoom {
  return a && a.at <= b.at ? a : b;
}

function noSession({ now }: Granting): NoRoom {
  return { kind: 'none', reason: 'no_session', at: now + SOON_MS };
}

function grantThis(state: State, granting: Granting, id: string): LeaseGrant[] | NoRoom {
  const { want, host } = granting;
  const identity = state.sessions.get(id);
  const isHere = identity?.host === host.name && identity.scraper === want.scraper;
  if (!identity || !isHere || !isUsable(identity) || identity.lease) return noSession(granting);
  const grant = tryWith(state, granting, identity.egress, identity);
  return 'kind' in grant ? grant : [grant];
}

/** A session goes where its egress goes, and not elsewhere: this want may want to go another way. */
function isOnTheWay(state: State, granting: Granting, { egress }: Identity): boolean {
  return goesDirect(state, granting) === (egress === state.direct.id);
}

/** Each lease changes what there is room for, so it is looked at anew for each. */
function tryWith(
  state: State,
  granting: Granting,
  egressId: string,
  identity: Identity | undefined,
): LeaseGrant | NoRoom {
  const { want, host, now, request } = granting;
  const room = roomAt(state, host, { worker: request.worker, want, now });
  if (room.kind === 'none') return room;
  const picks = pick(state, granting, egressId);
  if ('kind' in picks) return picks;
  const [egress] = picks;
  const count = Math.min(OWNED_PERMITS, room.permits, egress ? permitRoom(state, granting, egress) : 0);
  if (!egress || count < 1) return noSession(granting);
  const session = identity ?? createSession(state, host, { scraper: want.scraper, egress }, now);
  return grantOne(
    state,
    { ...granting, room },
    { egress, count: granting.isScout ? 1 : count, slots: 1, session },
  );
}

function pick(state: State, granting: Granting, egressId: string): readonly Egress[] | NoRoom {
  const { host, now, want } = granting;
  if (egressId === state.direct.id) {
    const { fitAt } = pairRoomAt(state, host, state.direct, now);
    return fitAt > now ? { kind: 'none', reason: 'host_busy', at: fitAt } : [state.direct];
  }
  const only = egressId === '' ? want.only : egressId;
  return seekProxies(state, { ...granting, want: { ...want, only } }, 1);
}

function tryNew(state: State, granting: Granting): LeaseGrant | NoRoom {
  return tryWith(state, granting, goesDirect(state, granting) ? state.direct.id : '', undefined);
}
