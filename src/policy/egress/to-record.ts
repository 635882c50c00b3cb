/** What is in memory, as records: of each thing what has to be written about it now. */
import type { LeaseRecord } from './kept-records.ts';
import type { EgressWrite } from './records.ts';
import { recordKey } from './records.ts';
import type { Egress, Host, Identity, Lease, Pair, Robots } from './entities.ts';
import { clearAt, HOUR_MS, isCapped, spentOf } from './window.ts';

/** A record outlives its meaning by a little, because the store counts by another clock. */
const MARGIN_MS = 60_000;
const HOST_KEEP_MS = 24 * HOUR_MS;
export const SESSION_IDLE_MS = 24 * HOUR_MS;
/** How long it is remembered that an egress was not welcome, after it is welcome again. */
export const PAIR_MEMORY_MS = HOUR_MS;

export function spentWrite(egress: Egress, now: number): EgressWrite | undefined {
  if (!isCapped(egress.caps)) return undefined;
  const record = {
    type: 'spent' as const,
    egress: egress.id,
    usedAt: egress.usedAt,
    ...spentOf(egress.meter, now),
  };
  return put(record, Math.max(0, clearAt(egress.meter) - now) + MARGIN_MS);
}

/** Until when a pair is worth remembering beyond what it counts. */
export function pairMemoryUntil({ closure, times }: Pair): number {
  if (closure) return (closure.until ?? Infinity) + (times > 0 ? PAIR_MEMORY_MS : 0);
  return 0;
}

export function pairWrite(pair: Pair, now: number): EgressWrite | undefined {
  const spent = pair.meter ? spentOf(pair.meter, now) : { hour: [], minute: [] };
  const record = {
    type: 'pair' as const,
    egress: pair.egress,
    host: pair.host.name,
    ...spent,
    ...(pair.closure && { closure: pair.closure }),
    times: pair.times,
  };
  const until = Math.max(pair.meter ? clearAt(pair.meter) : 0, pairMemoryUntil(pair));
  if (until > now) {
    pair.stored = true;
    return put(record, until === Infinity ? undefined : until - now + MARGIN_MS);
  }
  if (!pair.stored) return undefined;
  pair.stored = false;
  return { kind: 'remove', key: recordKey(record) };
}

export function proxyWrite({ id, record, standing }: Egress): EgressWrite {
  if (!record) return { kind: 'remove', key: `proxy.${id}` };
  return put({ ...record, standing }, undefined);
}

export function hostWrite(host: Host, now: number): EgressWrite | undefined {
  const { own, throttleScope, closure, throttles, blocks, adaptiveDelayMs, looseUntil } = host;
  const byPeople = own !== undefined || throttleScope !== undefined;
  const until = closure ? (closure.until ?? Infinity) : 0;
  const troubled = until > now || adaptiveDelayMs > 0 || throttles > 0 || blocks > 0;
  if (byPeople || troubled || host.asked.size > 0 || looseUntil > now) {
    host.storedAt = now;
    const record = {
      type: 'host' as const,
      host: host.name,
      ...(own && { limits: own }),
      ...(throttleScope && { throttleScope }),
      standing: {
        ...(closure && { closure }),
        throttles,
        blocks,
        adaptiveDelayMs,
        asked: Object.fromEntries(host.asked),
        looseUntil,
      },
    };
    const forEver = byPeople || until === Infinity;
    return put(record, forEver ? undefined : Math.max(0, until - now) + HOST_KEEP_MS);
  }
  if (host.storedAt === 0) return undefined;
  host.storedAt = 0;
  return { kind: 'remove', key: `host.${host.name}` };
}

export function isHostRecordOld(host: Host, now: number): boolean {
  return host.storedAt > 0 && now - host.storedAt > HOST_KEEP_MS / 2;
}

export function sessionWrite(identity: Identity, now: number): EgressWrite {
  if (identity.gone) return { kind: 'remove', key: `session.${identity.id}` };
  const { id, host, scraper, egress, state, userAgent, headers, cookies } = identity;
  const { uses, errors, createdAt, usedAt, validUntil } = identity;
  const record = {
    type: 'session' as const,
    ...{ id, host, scraper, egress, state, userAgent, headers, cookies },
    ...{ uses, errors, createdAt, usedAt },
    ...(validUntil !== undefined && { validUntil }),
  };
  return put(record, Math.max(0, usedAt - now) + SESSION_IDLE_MS + MARGIN_MS);
}

export function robotsWrite(robots: Robots, now: number): EgressWrite {
  const { host, version, text, crawlDelayMs, until, failures } = robots;
  const record = {
    type: 'robots' as const,
    host,
    version,
    ...(text !== undefined && { text }),
    crawlDelayMs,
    until,
    failures,
  };
  return put(record, Math.max(0, until - now) + HOST_KEEP_MS);
}

/** When the next lease of its host, or of its host through its egress, need not keep a distance any more. */
export function distanceUntil({ host, spacingMs, lastStartAt }: Lease): number {
  return lastStartAt + Math.max(spacingMs, host.limits.delayMs, host.limits.egressDelayMs);
}

export function leaseWrite(lease: Lease, now: number): EgressWrite | undefined {
  const key = `lease.${lease.id}`;
  if (lease.over && (lease.spacingMs === 0 || distanceUntil(lease) <= now))
    return lease.stored ? { kind: 'remove', key } : undefined;
  lease.stored = true;
  if (lease.over) return put(leaseRecord(lease), distanceUntil(lease) - now + MARGIN_MS);
  // Permits of a lease that nobody has heard of again count for a window after its end.
  const countsMs = lease.permits === null ? 0 : HOUR_MS;
  return put(leaseRecord(lease), lease.dueAt - now + countsMs + lease.spacingMs + MARGIN_MS);
}

function leaseRecord(lease: Lease): LeaseRecord {
  return {
    type: 'lease',
    id: lease.id,
    worker: lease.worker,
    host: lease.host.name,
    scraper: lease.scraper,
    egress: lease.egress.id,
    permits: lease.permits,
    slots: lease.slots,
    spacingMs: lease.spacingMs,
    exclusive: lease.exclusive,
    ...(lease.session && { session: lease.session.id }),
    validMs: lease.validMs,
    grantedAt: lease.grantedAt,
    startAt: lease.startAt,
    startsUntil: lease.startsUntil,
    expiresAt: lease.dueAt,
    low: lease.seen.low,
    above: [...(lease.seen.above ?? [])],
    unsent: lease.unsent,
    started: lease.started,
    lastStartAt: lease.lastStartAt,
    ended: lease.over,
  };
}

export function openWrite(until: number, now: number): EgressWrite {
  return put({ type: 'open', until }, until - now + HOUR_MS);
}

function put(
  record: Extract<EgressWrite, { kind: 'put' }>['record'],
  ttlMs: number | undefined,
): EgressWrite {
  return { kind: 'put', key: recordKey(record), record, ...(ttlMs !== undefined && { ttlMs }) };
}
