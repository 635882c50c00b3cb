/**
 * Hosts that want rest, and hosts that want nothing to do with an egress. All of it ends by time alone.
 *
 *   throttled   the host closes until the time it asked for, or for longer each time; where its limits are per egress,
 *               only for that egress. Open again, it is asked more slowly: the delay doubles with each time, and
 *               halves after each row of good answers until it is gone.
 *   blocked     the host closes for that egress. Blocked directly, or on many egresses within a minute, it closes.
 *   unreachable the host closes.
 *
 * Nobody who knows starts something at a host that is closed. So requests from before it was opened again tell nothing
 * new, however late they end: they do not count again.
 */
import { DIRECT } from '../../domain/egress.ts';
import { slowDown } from './host-pace.ts';
import { pairOf, refreshLimits } from './hosts.ts';
import type { Closure } from './records.ts';
import type { Egress, Host, Pair } from './entities.ts';
import type { State } from './state.ts';
import { isCapped } from './window.ts';

const THROTTLED_MS = 30_000;
const THROTTLED_MAX_MS = 900_000;
const BLOCKED_MS = 600_000;
/** As long as Tor takes from one new circuit to the next, and a little more. */
const ROTATED_MS = 15_000;
const BLOCKED_MAX_MS = 21_600_000;
const HOST_BLOCKED_MS = 60_000;
const UNREACHABLE_MAX_MS = 900_000;
const BLOCKED_EGRESSES = 5;
const BLOCKED_WITHIN_MS = 60_000;

export function isClosed({ closure }: { readonly closure: Closure | undefined }, now: number): boolean {
  return closure !== undefined && (closure.until === undefined || closure.until > now);
}

export function noteThrottled(
  state: State,
  host: Host,
  egress: Egress,
  { startedAt, retryAfterMs }: { readonly startedAt: number; readonly retryAfterMs?: number | undefined },
  now: number,
): void {
  const pair = isThrottledPerEgress(state, host, egress) ? pairOf(host, egress.id) : undefined;
  const isNews = pair ? isPairNews(pair, startedAt) : isHostNews(host, startedAt);
  const times = pair?.times ?? host.throttles;
  const askedMs =
    retryAfterMs === undefined
      ? undefined
      : Math.min(Math.max(1, retryAfterMs), state.limits.retryAfterMaxMs);
  if (!isNews && askedMs === undefined) return;
  const until = now + (askedMs ?? doubled(THROTTLED_MS, times, THROTTLED_MAX_MS));
  if (pair) {
    closePair(state, pair, { reason: 'throttled', until, isNews }, now);
    return;
  }
  const since = isNews ? now : (host.closure?.since ?? now);
  closeLonger(state, host, { reason: 'throttled', since, until }, now);
  if (!isNews) return;
  host.throttles += 1;
  slowDown(state, host, now);
}

function isHostNews({ closure, openedAt }: Host, startedAt: number): boolean {
  return closure === undefined && startedAt >= openedAt;
}

function isPairNews({ closure, shut }: Pair, startedAt: number): boolean {
  return !shut && startedAt >= (closure?.until ?? -Infinity);
}

function isThrottledPerEgress(state: State, { limits, throttleScope }: Host, egress: Egress): boolean {
  if (egress.id === DIRECT) return false;
  if (limits.egressDelayMs > 0 || isCapped(limits.egressCaps)) return true;
  return (throttleScope ?? state.limits.throttleScope) === 'egress';
}

export function noteBlocked(state: State, host: Host, egress: Egress, startedAt: number, now: number): void {
  if (egress.id === DIRECT) {
    closeBlocked(state, host, startedAt, now);
    return;
  }
  const pair = pairOf(host, egress.id);
  if (!isPairNews(pair, startedAt)) return;
  // Who can change his address is somebody else a moment later.
  const baseMs = egress.record?.control === undefined ? BLOCKED_MS : ROTATED_MS;
  const until = now + doubled(baseMs, pair.times, BLOCKED_MAX_MS);
  closePair(state, pair, { reason: 'blocked', until, isNews: true }, now);
  host.blockedOn.delete(egress.id);
  host.blockedOn.set(egress.id, now);
  for (const [id, at] of host.blockedOn) if (now - at > BLOCKED_WITHIN_MS) host.blockedOn.delete(id);
  if (host.blockedOn.size < BLOCKED_EGRESSES) return;
  host.blockedOn.clear();
  closeBlocked(state, host, startedAt, now);
}

function closeBlocked(state: State, host: Host, startedAt: number, now: number): void {
  if (isHostNews(host, startedAt)) closeForAll(state, host, 'blocked', BLOCKED_MAX_MS, now);
}

/** No egress gets through to it. */
export function closeUnreachable(state: State, host: Host, startedAt: number, now: number): void {
  if (isHostNews(host, startedAt)) closeForAll(state, host, 'unreachable', UNREACHABLE_MAX_MS, now);
}

function closeForAll(state: State, host: Host, reason: string, maxMs: number, now: number): void {
  const until = now + doubled(HOST_BLOCKED_MS, host.blocks, maxMs);
  host.blocks += 1;
  closeLonger(state, host, { reason, since: now, until }, now);
}

function doubled(baseMs: number, times: number, maxMs: number): number {
  return Math.min(maxMs, baseMs * 2 ** Math.min(times, 30));
}

/** A closure never becomes shorter by what the host says. */
function closeLonger(state: State, host: Host, closure: Closure, now: number): void {
  if (isClosed(host, now) && (host.closure?.until ?? Infinity) >= (closure.until ?? Infinity)) return;
  close(state, host, closure, now);
}

export function close(state: State, host: Host, closure: Closure, now: number): void {
  host.closure = closure;
  // Not renewed: whoever holds one hears that the host is closed.
  for (const lease of host.leases) lease.revoked = true;
  state.journal.hosts.add(host);
  state.journal.events.push({ kind: 'host', host: host.name, to: 'closed', at: now, ...tellOf(closure) });
  wakeBy(state, host, closure.until);
}

function closePair(
  state: State,
  pair: Pair,
  { reason, until, isNews }: { readonly reason: string; readonly until: number; readonly isNews: boolean },
  now: number,
): void {
  if (pair.shut && (pair.closure?.until ?? Infinity) >= until) return;
  const since = isNews ? now : (pair.closure?.since ?? now);
  pair.closure = { reason, since, until };
  pair.shut = true;
  if (isNews) pair.times += 1;
  for (const lease of pair.host.leases) if (lease.egress.id === pair.egress) lease.revoked = true;
  state.journal.pairs.add(pair);
  state.journal.events.push({
    kind: 'host',
    host: pair.host.name,
    egress: pair.egress,
    to: 'closed',
    at: now,
    ...tellOf(pair.closure),
  });
  wakeBy(state, pair.host, until);
}

function tellOf({ reason, until }: Closure): { readonly reason: string; readonly until?: number } {
  return { reason, ...(until !== undefined && { until }) };
}

function wakeBy(state: State, host: Host, until: number | undefined): void {
  if (until !== undefined && until < host.dueAt) state.hostsDue.set(host, until);
}

/** What was closed until a time that has come is open. */
export function openDue(state: State, host: Host, now: number): void {
  if (host.closure && !isClosed(host, now)) open(state, host, 'time has passed', now);
  for (const pair of host.pairs.values()) {
    if (pair.shut && !isClosed(pair, now)) openPair(state, pair, 'time has passed', now);
  }
}

function open(state: State, host: Host, reason: string, now: number): void {
  host.closure = undefined;
  host.openedAt = now;
  host.noneUntil = 0;
  state.journal.hosts.add(host);
  state.journal.events.push({ kind: 'host', host: host.name, to: 'open', reason, at: now });
}

export function openPair(state: State, pair: Pair, reason: string, now: number): void {
  pair.shut = false;
  pair.host.noneUntil = 0;
  const { host, egress } = pair;
  state.journal.events.push({ kind: 'host', host: host.name, egress, to: 'open', reason, at: now });
}

export function openByPerson(state: State, host: Host, now: number): void {
  if (host.closure) open(state, host, 'opened by a person', now);
  for (const pair of host.pairs.values()) welcomePair(state, pair, now);
  host.throttles = 0;
  host.blocks = 0;
  host.adaptiveDelayMs = 0;
  host.accusers.clear();
  state.journal.hosts.add(host);
  refreshLimits(state, host, now);
}

/** As if the host had never refused it. */
export function welcomePair(state: State, pair: Pair, now: number): void {
  if (!pair.closure) return;
  if (pair.shut) openPair(state, pair, 'opened by a person', now);
  pair.closure = undefined;
  pair.times = 0;
  state.journal.pairs.add(pair);
}
