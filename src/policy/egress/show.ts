/** The read models of the book. */
import type { SessionState } from '../../domain/egress.ts';
import { isClosed } from './closures.ts';
import { leftOf, type Egress, type Host, type Identity, type Lease, type Pair } from './entities.ts';
import type { State } from './state.ts';
import type { Gauges, HostView, LeaseView, PairView, ProxyView, SessionView } from './views.ts';
import { usedIn, type Meter } from './window.ts';

const PAIRS_SHOWN = 100;

export function showProxy(egress: Egress, now: number): ProxyView | undefined {
  const { record, standing } = egress;
  if (!record) return undefined;
  const { machine } = record;
  const used = usedIn(egress.meter, now);
  return {
    id: egress.id,
    kind: record.address.kind,
    endpoint: `${record.address.host}:${record.address.port}`,
    ...(machine !== undefined && { machine }),
    weight: record.weight,
    state: egress.state,
    reason: egress.reason,
    since: egress.since,
    ...(egress.until !== undefined && { until: egress.until }),
    caps: egress.caps,
    usedHour: used.hour,
    usedMinute: used.minute,
    leases: egress.leases,
    usedAt: egress.usedAt,
    failuresInARow: egress.failures,
    score: egress.score,
    latencyMs: egress.latencyMs,
    ...(standing.health && { health: standing.health }),
  };
}

export function showHost(state: State, host: Host, now: number): HostView {
  const closed = isClosed(host, now);
  const used = usedOf(host.meter, now);
  const pairs = [...host.pairs.values()]
    .sort((a, b) => Number(b.shut) - Number(a.shut))
    .slice(0, PAIRS_SHOWN);
  return {
    host: host.name,
    state: closed ? 'closed' : 'open',
    ...(closed && host.closure && { closure: host.closure }),
    limits: host.limits,
    adaptiveDelayMs: host.adaptiveDelayMs,
    crawlDelayMs: state.robots.get(host.name)?.crawlDelayMs ?? 0,
    usedHour: used.hour,
    usedMinute: used.minute,
    leases: host.leases.size,
    slots: host.slots,
    egresses: pairs.map((pair) => showPair(pair, now)),
  };
}

function showPair(pair: Pair, now: number): PairView {
  const used = usedOf(pair.meter, now);
  return {
    egress: pair.egress,
    ...(isClosed(pair, now) && pair.closure && { closure: pair.closure }),
    usedHour: used.hour,
    usedMinute: used.minute,
    score: pair.score,
    latencyMs: pair.latencyMs,
  };
}

function usedOf(meter: Meter | undefined, now: number): { readonly hour: number; readonly minute: number } {
  return meter ? usedIn(meter, now) : { hour: 0, minute: 0 };
}

export function showSession(identity: Identity): SessionView {
  const { id, host, scraper, egress, state, uses, errors, createdAt, usedAt, validUntil, lease } = identity;
  return {
    id,
    host,
    scraper,
    egress,
    state,
    ...(lease && { lease: lease.id }),
    uses,
    errors,
    createdAt,
    usedAt,
    ...(validUntil !== undefined && { validUntil }),
  };
}

export function showLease(lease: Lease): LeaseView {
  const { id, worker, host, scraper, egress, session, exclusive, permits, slots, grantedAt } = lease;
  return {
    id,
    worker,
    host: host.name,
    scraper,
    egress: egress.id,
    ...(session && { session: session.id }),
    exclusive,
    permits,
    permitsLeft: permits === null ? null : leftOf(lease),
    slots,
    grantedAt,
    expiresAt: lease.dueAt,
  };
}

export function showGauges(state: State, now: number): Gauges {
  const sessionsByState: Record<SessionState, number> = { fresh: 0, valid: 0, invalid: 0, retired: 0 };
  for (const identity of state.sessions.values()) sessionsByState[identity.state] += 1;
  let hostsClosed = 0;
  for (const host of state.hosts.values()) if (isClosed(host, now)) hostsClosed += 1;
  return {
    proxiesByState: { ...state.byState },
    sessionsByState,
    leases: state.leases.size,
    hosts: state.hosts.size,
    hostsClosed,
  };
}
