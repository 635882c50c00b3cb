/** Hosts, and what is known of egresses at them, are forgotten when nothing depends on it any more. */
import type { Host, Pair } from './entities.ts';
import { IDLE_MS } from './hosts.ts';
import type { State } from './state.ts';
import { isHostRecordOld, pairMemoryUntil } from './to-record.ts';
import { clearAt } from './window.ts';

const HOSTS_MAX = 100_000;
const PAIRS_MAX = 512;
const LOOKS = 64;

/** Its time has come: something opens, or nobody has asked for long. */
export function wakeHost(state: State, host: Host, now: number): void {
  const next = Math.min(sweepPairs(state, host, now), host.closure?.until ?? Infinity);
  if (isHostRecordOld(host, now)) state.journal.hosts.add(host);
  if (canForget(host, now) && now - host.touchedAt >= IDLE_MS) forget(state, host);
  else state.hostsDue.set(host, Math.max(now + 1, Math.min(next, now + IDLE_MS)));
}

/** Forgets pairs of which nothing counts any more; says when the next one opens. */
function sweepPairs(state: State, host: Host, now: number): number {
  let next = Infinity;
  let extra = host.pairs.size - PAIRS_MAX;
  for (const pair of host.pairs.values()) {
    const { closure } = pair;
    if (closure?.until !== undefined && closure.until > now) next = Math.min(next, closure.until);
    if (!isIdlePair(pair, now)) continue;
    // What is left is how good it was: worth keeping for a few.
    if (extra > 0 || now - host.touchedAt >= IDLE_MS) {
      extra -= 1;
      host.pairs.delete(pair.egress);
      if (pair.stored) state.journal.pairs.add(pair);
    }
  }
  return next;
}

function isIdlePair(pair: Pair, now: number): boolean {
  const counts = pair.meter !== undefined && (pair.meter.held > 0 || clearAt(pair.meter) > now);
  const paces = pair.pacer !== undefined || pair.lastStartAt + pair.host.limits.egressDelayMs > now;
  return !counts && !paces && pairMemoryUntil(pair) <= now;
}

function canForget(host: Host, now: number): boolean {
  const byPeople = host.own !== undefined || host.throttleScope !== undefined;
  const slowed = host.adaptiveDelayMs > 0 && now - host.touchedAt < 24 * IDLE_MS;
  const counts = host.meter !== undefined && (host.meter.held > 0 || clearAt(host.meter) > now);
  const paces = host.lastStartAt + host.limits.delayMs > now;
  if (byPeople || host.closure || slowed || counts || paces || host.leases.size > 0) return false;
  for (const pair of host.pairs.values()) if (!isIdlePair(pair, now)) return false;
  return host.looseUntil <= now;
}

function forget(state: State, host: Host): void {
  state.hosts.delete(host.name);
  state.hostsDue.remove(host);
  host.asked.clear();
  host.adaptiveDelayMs = 0;
  host.throttles = 0;
  host.blocks = 0;
  if (host.storedAt > 0) state.journal.hosts.add(host);
  for (const pair of host.pairs.values()) if (pair.stored) state.journal.pairs.add(pair);
}

/** Too many at once: those that nobody needs to remember go earlier, as far as a short look finds some. */
export function forgetSome(state: State, now: number): void {
  let looks = state.hosts.size > HOSTS_MAX ? LOOKS : 0;
  for (const host of state.hosts.values()) {
    if (looks === 0) return;
    looks -= 1;
    if (canForget(host, now)) forget(state, host);
    else {
      // To the end of the line, so that the next look meets others.
      state.hosts.delete(host.name);
      state.hosts.set(host.name, host);
    }
  }
}
