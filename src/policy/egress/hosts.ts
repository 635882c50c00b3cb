/** The hosts that somebody wants something of, or that something is known about. The others are forgotten. */
import type { HostLimits } from '../../domain/egress.ts';
import { areSameLimits, decideHostLimits, isStricter, stricter } from './host-limits.ts';
import { NO_HOST_LIMITS } from './limits.ts';
import type { HostRecord } from './records.ts';
import { leftOf, type Host, type Pair } from './entities.ts';
import type { State } from './state.ts';
import { createMeter, isCapped } from './window.ts';

export const IDLE_MS = 600_000;
const SCRAPERS_MAX = 32;

export function hostOf(state: State, name: string, now: number): Host {
  let host = state.hosts.get(name);
  if (!host) {
    host = createHost(name, now);
    host.limits = limitsOf(state, host);
    trackCaps(host);
    state.hosts.set(name, host);
    state.hostsDue.set(host, now + IDLE_MS);
  }
  return host;
}

function createHost(name: string, now: number): Host {
  return {
    name,
    own: undefined,
    throttleScope: undefined,
    asked: new Map(),
    limits: NO_HOST_LIMITS,
    closure: undefined,
    throttles: 0,
    blocks: 0,
    adaptiveDelayMs: 0,
    goods: 0,
    loose: undefined,
    looseUntil: 0,
    meter: undefined,
    leases: new Set(),
    slots: 0,
    pacer: undefined,
    lastStartAt: 0,
    pairs: new Map(),
    askers: new Map(),
    shortAt: 0,
    blockedOn: new Map(),
    accusers: new Set(),
    silentOn: new Set(),
    openedAt: -Infinity,
    tail: 0,
    tailBase: 0,
    noneUntil: 0,
    nonePool: -1,
    noneReason: 'no_proxy_available',
    touchedAt: now,
    storedAt: 0,
    dueAt: 0,
    heapAt: -1,
  };
}

export function pairOf(host: Host, egress: string): Pair {
  let pair = host.pairs.get(egress);
  if (!pair) {
    pair = {
      host,
      egress,
      closure: undefined,
      shut: false,
      times: 0,
      meter: undefined,
      pacer: undefined,
      lastStartAt: 0,
      score: 1,
      latencyMs: 0,
      stored: false,
    };
    host.pairs.set(egress, pair);
  }
  return pair;
}

/** Whether requests to it are counted, for it or for it through each egress. */
export function countsRequests({ limits }: Host): boolean {
  return isCapped(limits) || isCapped(limits.egressCaps);
}

function limitsOf(state: State, host: Host): HostLimits {
  return decideHostLimits({
    usual: state.limits.hostLimitsOf?.(host.name) ?? state.limits.hostLimits,
    own: host.own,
    asked: host.asked.values(),
    crawlDelayMs: state.limits.robots ? (state.robots.get(host.name)?.crawlDelayMs ?? 0) : 0,
    adaptiveDelayMs: host.adaptiveDelayMs,
  });
}

/** From when there is a cap, what is held counts; what was sent before does not. */
function trackCaps(host: Host): void {
  if (host.meter || !countsRequests(host)) return;
  host.meter = createMeter();
  for (const lease of host.leases) {
    const pair = pairOf(host, lease.egress.id);
    pair.meter ??= createMeter();
    pair.meter.held += leftOf(lease);
    host.meter.held += leftOf(lease);
  }
}

/** Something changed that its limits follow from. */
export function refreshLimits(state: State, host: Host, now: number): void {
  const before = host.limits;
  host.limits = limitsOf(state, host);
  trackCaps(host);
  host.noneUntil = 0;
  if (isStricter(host.limits, before)) waitForLoose(state, host, before, now);
}

/** Leases from before are used as they were granted; nothing is granted under the new limits until they are over. */
function waitForLoose(state: State, host: Host, before: HostLimits, now: number): void {
  // Where it matters how many are under way, also the last of them must be.
  const isAboutSlots = isStricter({ ...before, concurrency: host.limits.concurrency }, before);
  const unsure = state.unsureUntil + (isAboutSlots ? state.limits.flightMs : 0);
  let until = Math.max(host.looseUntil, unsure);
  for (const lease of host.leases) until = Math.max(until, isAboutSlots ? lease.dueAt : lease.startsUntil);
  if (until <= now) return;
  // Known one by one, they may be over earlier.
  const isKnown = unsure <= now && (host.looseUntil <= now || host.loose !== undefined);
  host.loose = isKnown ? new Set(host.leases) : undefined;
  for (const lease of host.leases) lease.revoked = true;
  host.looseUntil = until;
  state.journal.hosts.add(host);
}

/** When the leases of freer days are over, at the latest. */
export function looseUntil(host: Host, now: number): number {
  if (host.looseUntil === 0) return now;
  const { delayMs, egressDelayMs } = host.limits;
  // Of those that did not come back nobody knows when the last request started.
  const until = host.looseUntil + Math.max(delayMs, egressDelayMs);
  if (until > now) return until;
  host.looseUntil = 0;
  host.loose = undefined;
  return now;
}

/** What a scraper brings along counts for all until it brings something else. */
export function noteAsked(
  state: State,
  host: Host,
  { scraper, limits }: { readonly scraper: string; readonly limits?: Partial<HostLimits> | undefined },
  now: number,
): void {
  host.touchedAt = now;
  if (areSameLimits(host.asked.get(scraper), limits)) return;
  host.asked.delete(scraper);
  if (limits) host.asked.set(scraper, limits);
  for (const [oldest, theirs] of host.asked) {
    if (host.asked.size <= SCRAPERS_MAX) break;
    host.asked.delete(oldest);
    host.asked.set('', stricter({ ...NO_HOST_LIMITS, ...host.asked.get('') }, theirs));
  }
  state.journal.hosts.add(host);
  refreshLimits(state, host, now);
}

export function setOwnLimits(state: State, host: Host, record: HostRecord, now: number): void {
  host.own = record.limits;
  host.throttleScope = record.throttleScope;
  state.journal.hosts.add(host);
  refreshLimits(state, host, now);
}
