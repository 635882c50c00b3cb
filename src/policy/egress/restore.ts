/** Goes on from what a predecessor stored. Its clock may have been ahead or behind: what still counts counts longer. */
import { hostOf, pairOf, refreshLimits } from './hosts.ts';
import { restoreLease } from './leases.ts';
import { egressOf, settle } from './pool.ts';
import { enterProxy } from './proxies.ts';
import type { PairRecord } from './kept-records.ts';
import { recordKey, type EgressRecord, type EgressRecords, type HostRecord } from './records.ts';
import type { LeaseRecord } from './kept-records.ts';
import { restoreRobots } from './robots-cache.ts';
import { enterSession } from './sessions.ts';
import type { Identity } from './entities.ts';
import type { State } from './state.ts';
import { createMeter, isCapped, restoreSpent } from './window.ts';

type OfType<T extends EgressRecord['type']> = Extract<EgressRecord, { type: T }>;

export function restore(state: State, records: EgressRecords, now: number): void {
  const all = [...records].sort((a, b) => (recordKey(a) < recordKey(b) ? -1 : 1));
  const of = <T extends EgressRecord['type']>(type: T): OfType<T>[] =>
    all.filter((record): record is OfType<T> => record.type === type);
  const { skewMs, flightMs } = state.limits;
  for (const { until } of of('open')) state.unsureUntil = Math.max(state.unsureUntil, until + skewMs);
  for (const record of of('robots')) restoreRobots(state, record);
  for (const record of of('host')) restoreHost(state, record, now);
  for (const record of of('session')) enterSession(state, record);
  for (const record of of('spent')) {
    const egress = egressOf(state, record.egress);
    restoreSpent(egress.meter, record.hour, record.minute, skewMs);
    egress.usedAt = Math.max(egress.usedAt, record.usedAt);
  }
  restorePairs(state, of('pair'), now);
  for (const record of of('lease')) restoreLease(state, record, sessionOf(state, record), now);
  for (const record of of('proxy')) {
    enterProxy(state, record, now);
    const egress = egressOf(state, record.id);
    if (!isCapped(egress.caps)) egress.unsureUntil = state.unsureUntil + flightMs;
  }
  // Of proxies that are gone only what counts is left; it passes with time.
  for (const egress of state.egresses.values())
    if (egress.record) settle(state, egress, now);
    else state.waiting.set(egress, now);
  state.journal.events.length = 0;
  state.journal.proxies.clear();
  state.journal.hosts.clear();
}

function sessionOf(state: State, { session }: LeaseRecord): Identity | undefined {
  return session === undefined ? undefined : state.sessions.get(session);
}

function restoreHost(state: State, record: HostRecord, now: number): void {
  const host = hostOf(state, record.host, now);
  const { standing } = record;
  host.own = record.limits;
  host.throttleScope = record.throttleScope;
  host.storedAt = now;
  if (standing) {
    host.closure = standing.closure;
    host.throttles = standing.throttles;
    host.blocks = standing.blocks;
    host.adaptiveDelayMs = standing.adaptiveDelayMs;
    for (const [scraper, limits] of Object.entries(standing.asked)) host.asked.set(scraper, limits);
    if (standing.looseUntil > 0) host.looseUntil = standing.looseUntil + state.limits.skewMs;
  }
  const { looseUntil } = host;
  refreshLimits(state, host, now);
  // The limits were known to whoever granted the leases of then; which of them are older, nobody knows any more.
  host.looseUntil = looseUntil;
  host.loose = undefined;
  const until = host.closure?.until;
  if (until !== undefined) state.hostsDue.set(host, Math.min(host.dueAt, Math.max(now, until)));
}

function restorePairs(state: State, records: readonly PairRecord[], now: number): void {
  const { skewMs } = state.limits;
  for (const record of records) {
    const host = hostOf(state, record.host, now);
    const pair = pairOf(host, record.egress);
    pair.closure = record.closure;
    pair.times = record.times;
    pair.shut = record.closure !== undefined;
    pair.stored = true;
    if (record.closure?.until !== undefined)
      state.hostsDue.set(host, Math.min(host.dueAt, Math.max(now, record.closure.until)));
    if (host.meter) restoreSpent((pair.meter ??= createMeter()), record.hour, record.minute, skewMs);
  }
  restoreHostMeters(state, records);
}

/** What a host has seen is what it has seen through each egress. */
function restoreHostMeters(state: State, records: readonly PairRecord[]): void {
  const byTime = (a: readonly [number, number], b: readonly [number, number]): number => a[0] - b[0];
  const hosts = new Map<string, PairRecord[]>();
  for (const record of records) hosts.set(record.host, [...(hosts.get(record.host) ?? []), record]);
  for (const [name, pairs] of hosts) {
    const meter = state.hosts.get(name)?.meter;
    if (!meter) continue;
    const hour = pairs.flatMap((pair) => pair.hour).sort(byTime);
    const minute = pairs.flatMap((pair) => pair.minute).sort(byTime);
    restoreSpent(meter, hour, minute, state.limits.skewMs);
  }
}
