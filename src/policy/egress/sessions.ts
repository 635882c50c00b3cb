/**
 * Sessions: who we are at one host through one egress. Made when somebody needs one, held by one lease at a time, never
 * used through another egress.
 *
 *   fresh → valid → retired (errors, uses, its proxy is gone)
 *                 → invalid (the holder found so)
 */
import { Secret } from '../../domain/secret.ts';
import type { Session, SessionState } from '../../domain/egress.ts';
import type { LeaseSession } from '../../wire/egress.ts';
import type { Egress, Host, Identity, Lease } from './entities.ts';
import { nextId, type State } from './state.ts';
import { SESSION_IDLE_MS } from './to-record.ts';

/** How long one that is of no use any more can be looked at. */
const SHOWN_MS = 3_600_000;
const SESSIONS_MAX = 100_000;

export function createSession(
  state: State,
  host: Host,
  { scraper, egress }: { readonly scraper: string; readonly egress: Egress },
  now: number,
): Identity {
  const identity = enterSession(state, {
    id: nextId(state),
    host: host.name,
    scraper,
    egress: egress.id,
    state: 'fresh',
    userAgent: '',
    headers: {},
    cookies: new Secret(''),
    uses: 0,
    errors: 0,
    createdAt: now,
    usedAt: now,
  });
  state.journal.sessions.add(identity);
  tell(state, identity, 'made', now);
  return identity;
}

export function enterSession(state: State, session: Session): Identity {
  const identity: Identity = {
    id: session.id,
    host: session.host,
    scraper: session.scraper,
    egress: session.egress,
    state: session.state,
    userAgent: session.userAgent,
    headers: session.headers,
    cookies: session.cookies,
    uses: session.uses,
    errors: session.errors,
    createdAt: session.createdAt,
    usedAt: session.usedAt,
    validUntil: session.validUntil,
    lease: undefined,
    worker: undefined,
    gone: false,
    dueAt: 0,
    heapAt: -1,
  };
  state.sessions.set(identity.id, identity);
  const place = placeOf(identity);
  const there = state.sessionsAt.get(place);
  if (there) there.add(identity);
  else state.sessionsAt.set(place, new Set([identity]));
  const lastAt = Math.max(identity.usedAt, identity.createdAt);
  state.sessionsDue.set(identity, lastAt + (isUsable(identity) ? SESSION_IDLE_MS : SHOWN_MS));
  return identity;
}

function placeOf({ host, scraper }: { readonly host: string; readonly scraper: string }): string {
  return `${host} ${scraper}`;
}

export function isUsable({ state }: Identity): boolean {
  return state === 'fresh' || state === 'valid';
}

/** Those that somebody could use, the least recently used first. */
export function sessionsFor(state: State, host: string, scraper: string): Identity[] {
  const there = state.sessionsAt.get(placeOf({ host, scraper }));
  if (!there) return [];
  return [...there].filter(isUsable).sort((a, b) => a.usedAt - b.usedAt || (a.id < b.id ? -1 : 1));
}

export function mayCreateSession(state: State, usable: number): boolean {
  const { sessionsPerHostMax } = state.limits;
  return state.sessions.size < SESSIONS_MAX && (sessionsPerHostMax === 0 || usable < sessionsPerHostMax);
}

/** One whose time is over needs the same as a new one: that its holder makes it valid. */
export function leaseSessionOf(identity: Identity, now: number): LeaseSession {
  const { id, userAgent, headers, validUntil } = identity;
  const lapsed = validUntil !== undefined && validUntil <= now;
  return {
    id,
    state: identity.state === 'valid' && !lapsed ? 'valid' : 'fresh',
    userAgent,
    headers,
    cookies: identity.cookies.reveal(),
    ...(validUntil !== undefined && { validUntil }),
  };
}

/** Brought along by a person; whoever holds one of the same id goes on until its lease ends, and nobody else before. */
export function replaceSession(state: State, session: Session, now: number): void {
  const old = state.sessions.get(session.id);
  if (old) leavePlace(state, old);
  const identity = enterSession(state, session);
  if (old) state.sessionsDue.remove(old);
  if (old?.lease) {
    old.lease.revoked = true;
    identity.lease = old.lease;
  }
  state.journal.sessions.add(identity);
  tell(state, identity, 'brought by a person', now);
}

export function freeSession(state: State, lease: Lease, now: number): void {
  const identity = state.sessions.get(lease.session?.id ?? '');
  if (identity?.lease !== lease) return;
  identity.lease = undefined;
  identity.usedAt = now;
  state.journal.sessions.add(identity);
  if (isUsable(identity)) state.sessionsDue.set(identity, now + SESSION_IDLE_MS);
  const { sessionUsesMax } = state.limits;
  if (sessionUsesMax > 0 && identity.uses >= sessionUsesMax)
    changeState(state, identity, 'retired', 'used up', now);
}

export function changeState(
  state: State,
  identity: Identity,
  to: SessionState,
  reason: string,
  now: number,
): void {
  if (identity.state === to) return;
  identity.state = to;
  state.journal.sessions.add(identity);
  if (!isUsable(identity)) state.sessionsDue.set(identity, now + SHOWN_MS);
  tell(state, identity, reason, now);
}

export function retireSessionsOf(state: State, egress: string, now: number): void {
  for (const identity of state.sessions.values())
    if (identity.egress === egress && isUsable(identity))
      changeState(state, identity, 'retired', 'its proxy is gone', now);
}

/** Its time has come: nobody has used it for long, or it has been of no use for long. */
export function wakeSession(state: State, identity: Identity, now: number): void {
  if (identity.lease) {
    state.sessionsDue.set(identity, now + SHOWN_MS);
    return;
  }
  identity.gone = true;
  state.sessions.delete(identity.id);
  leavePlace(state, identity);
  state.journal.sessions.add(identity);
}

function leavePlace({ sessionsAt }: State, identity: Identity): void {
  const there = sessionsAt.get(placeOf(identity));
  there?.delete(identity);
  if (there?.size === 0) sessionsAt.delete(placeOf(identity));
}

function tell(
  { journal }: State,
  { id, host, egress, state: to }: Identity,
  reason: string,
  at: number,
): void {
  journal.events.push({ kind: 'session', id, host, egress, to, reason, at });
}
