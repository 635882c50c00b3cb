/**
 * Leases. A lease holds permits, slots, an egress, a session, or the distance between requests:
 *
 *   granted → used, renewed → given back: what was not sent is free at once
 *                           → expired: all that was not heard of counts as sent at the last moment
 *
 * A lease that is over is remembered for a while, because a report about it may still be on its way.
 */
import { isClosed } from './closures.ts';
import { hostOf, pairOf } from './hosts.ts';
import { letGo, remember, takeHold } from './holdings.ts';
import { createNumberSet } from './number-set.ts';
import { hasAllStarted, lastStartOf, leavePace, takePace } from './pacing.ts';
import { forfeitPermits, hold, noteStart, releasePermits } from './permits.ts';
import { egressOf, markUsed, settle } from './pool.ts';
import type { LeaseRecord } from './kept-records.ts';
import { freeSession } from './sessions.ts';
import { leftOf, type Identity, type Lease } from './entities.ts';
import type { State } from './state.ts';

export interface NewLease extends Pick<
  Lease,
  | 'id'
  | 'worker'
  | 'host'
  | 'scraper'
  | 'egress'
  | 'permits'
  | 'slots'
  | 'spacingMs'
  | 'exclusive'
  | 'session'
> {
  readonly validMs: number;
  readonly startAt: number;
}

export function openLease(state: State, facts: NewLease, now: number): Lease {
  const { permits, slots, spacingMs, exclusive, session } = facts;
  const kept = permits !== null || slots !== null || spacingMs > 0 || exclusive || session !== undefined;
  // Field by field: this is where most of the time of a grant is spent.
  const lease: Lease = {
    id: facts.id,
    worker: facts.worker,
    host: facts.host,
    scraper: facts.scraper,
    egress: facts.egress,
    permits,
    slots,
    spacingMs,
    exclusive,
    session,
    validMs: facts.validMs,
    grantedAt: now,
    startAt: facts.startAt,
    startsUntil: now + facts.validMs,
    seen: createNumberSet(),
    unsent: 0,
    started: 0,
    lastStartAt: 0,
    revoked: false,
    over: false,
    expired: false,
    kept,
    stored: false,
    dueAt: 0,
    heapAt: -1,
  };
  enter(state, lease, lease.startsUntil + state.limits.flightMs, now);
  keep(state, lease);
  markUsed(state, lease.egress, now);
  settle(state, lease.egress, now);
  return lease;
}

/** Its successor must know of it. Of those that hold nothing it only must know that there may be some. */
function keep({ journal }: State, lease: Lease): void {
  if (lease.kept) journal.leases.add(lease);
  else journal.openUntil = Math.max(journal.openUntil, lease.startsUntil);
}

export function restoreLease(
  state: State,
  record: LeaseRecord,
  session: Identity | undefined,
  now: number,
): void {
  const skew = state.limits.skewMs;
  const host = hostOf(state, record.host, now);
  const egress = egressOf(state, record.egress);
  const lastStartAt = record.lastStartAt === 0 ? 0 : record.lastStartAt + skew;
  egress.usedAt = Math.max(egress.usedAt, record.grantedAt);
  if (record.ended) {
    noteStart(host, egress.id, lastStartAt);
    return;
  }
  const lease: Lease = {
    ...record,
    host,
    egress,
    session,
    startsUntil: record.startsUntil + skew,
    lastStartAt,
    seen: createNumberSet(record.low, record.above),
    // It may be one from before the limits became stricter.
    revoked: host.looseUntil > now,
    over: false,
    expired: false,
    kept: true,
    stored: true,
    dueAt: 0,
    heapAt: -1,
  };
  enter(state, lease, record.expiresAt + skew, now);
}

function enter(state: State, lease: Lease, expiresAt: number, now: number): void {
  const { host, egress, session } = lease;
  state.leases.set(lease.id, lease);
  state.leasesDue.set(lease, expiresAt);
  host.leases.add(lease);
  host.touchedAt = now;
  host.slots += lease.slots ?? 0;
  egress.leases += 1;
  if (lease.exclusive) egress.exclusive = lease;
  if (session) {
    session.lease = lease;
    session.worker = lease.worker;
  }
  hold(lease, leftOf(lease));
  if (lease.spacingMs > 0) {
    takePace(host, lease);
    if (host.limits.egressDelayMs > 0) takePace(pairOf(host, egress.id), lease);
    noteStart(host, egress.id, lease.lastStartAt);
  }
  takeHold(state, lease.worker, egress);
}

/** False: it must not go on. Then nothing more may start under it, and what is under way is reported as ever. */
export function renewLease(state: State, lease: Lease, now: number): boolean {
  const { egress, session } = lease;
  const pair = lease.host.pairs.get(egress.id);
  if (lease.revoked || isClosed(lease.host, now) || (pair && isClosed(pair, now))) return false;
  if (session?.state === 'invalid' || session?.state === 'retired') return false;
  if (egress !== state.direct && (!egress.record || egress.standing.state !== 'available')) return false;
  // Too late: what it was good for may be another's.
  if (now >= lease.startsUntil && !hasAllStarted(lease)) return false;
  const until = now + lease.validMs;
  if (!hasAllStarted(lease)) lease.startsUntil = Math.max(lease.startsUntil, until);
  state.leasesDue.set(lease, Math.max(lease.dueAt, until + state.limits.flightMs));
  keep(state, lease);
  return true;
}

export function endLease(state: State, lease: Lease, how: 'given back' | 'expired', now: number): void {
  const { host, egress, session } = lease;
  if (how === 'given back') releasePermits(state, lease, now);
  else {
    lease.expired = true;
    forfeitPermits(state, lease);
    lease.lastStartAt = lastStartOf(lease);
    noteStart(host, egress.id, lease.lastStartAt);
  }
  lease.over = true;
  state.leases.delete(lease.id);
  state.leasesDue.remove(lease);
  host.leases.delete(lease);
  if (host.loose?.delete(lease) && host.loose.size === 0) {
    host.loose = undefined;
    host.looseUntil = 0;
    state.journal.hosts.add(host);
  }
  host.slots -= lease.slots ?? 0;
  host.noneUntil = 0;
  leavePace(host, lease);
  leavePace(host.pairs.get(egress.id), lease);
  egress.leases -= 1;
  if (egress.exclusive === lease) egress.exclusive = undefined;
  if (session) freeSession(state, lease, now);
  letGo(state, lease.worker, egress);
  if (lease.kept) state.journal.leases.add(lease);
  remember(state, lease);
  settle(state, egress, now);
}
