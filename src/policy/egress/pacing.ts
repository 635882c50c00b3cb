/**
 * The distance between requests, to a host or through one egress to it. One lease at a time may start requests; its
 * holder keeps the distance among them, and the next lease keeps it to the last of them.
 */
import type { Lease } from './entities.ts';

/** A host, or a host through one egress. */
export interface Paced {
  pacer: Lease | undefined;
  lastStartAt: number;
}

/** Whether requests may still start under it. */
export function isPacing(lease: Lease, now: number): boolean {
  return !lease.over && now < lease.startsUntil && !hasAllStarted(lease);
}

export function hasAllStarted({ permits, started, unsent }: Lease): boolean {
  return permits !== null && started >= permits - unsent;
}

/** At the last moment, where nobody told. */
export function lastStartOf(lease: Lease): number {
  if (hasAllStarted(lease)) return lease.lastStartAt;
  return Math.max(lease.lastStartAt, lease.startsUntil);
}

/** Whose turn it is now. Of two, as only old records show them, the one that lasts longer. */
export function takePace(place: Paced, lease: Lease): void {
  const other = place.pacer;
  if (other && other !== lease) {
    const [first, last] = other.startsUntil > lease.startsUntil ? [lease, other] : [other, lease];
    place.lastStartAt = Math.max(place.lastStartAt, lastStartOf(first));
    place.pacer = last;
  } else place.pacer = lease;
}

/** It is over, and its last start is known or will never be. */
export function leavePace(place: Paced | undefined, lease: Lease): void {
  if (place?.pacer === lease) place.pacer = undefined;
}

export type Turn =
  | { readonly kind: 'free'; readonly startAt: number }
  /** Another lease has its turn, and at the latest until then. */
  | { readonly kind: 'busy'; readonly until: number };

export function turnOf(place: Paced | undefined, delayMs: number, now: number): Turn {
  if (delayMs === 0 || !place) return { kind: 'free', startAt: now };
  const { pacer } = place;
  if (pacer && isPacing(pacer, now)) return { kind: 'busy', until: pacer.startsUntil + delayMs };
  const last = Math.max(place.lastStartAt, pacer ? lastStartOf(pacer) : 0);
  return { kind: 'free', startAt: last === 0 ? now : Math.max(now, last + delayMs) };
}
