/** One lease in a worker's hand: what the manager granted, and what has been used of it. */
import type { ProxyAddress } from '../domain/egress.ts';
import type { TorControl } from '../http/tor-control.ts';
import type { LeaseGrant } from '../wire/egress.ts';
import type { LiveSession } from './live-session.ts';

/** How an egress is reached. */
export interface Way {
  readonly address: ProxyAddress | undefined;
  /** Where Tor takes its commands, if it is one. */
  readonly control: TorControl | undefined;
}

export interface Lease extends Way {
  readonly grant: LeaseGrant;
  readonly session: LiveSession | undefined;
  /** After this nothing may start under it (monotonic ms). */
  expiresAt: number;
  renewedAt: number; // monotonic ms
  /** Before this nothing may start under it (monotonic ms). */
  nextStartAt: number;
  permitsLeft: number; // Infinity: no limit
  inUse: number;
  /** Somebody has a permit and is not ready to send: nothing else starts before. */
  preparing: boolean;
  /** Requests that are on their way to the site, or were. */
  started: number;
  /** Numbers of requests reported so far. */
  sent: number;
  usedAt: number; // monotonic ms
  /** Whose it is alone, while that one lives. */
  owner: object | undefined;
  /** Nothing more starts under it. */
  over: boolean;
}

export interface LeaseArrival extends Way {
  readonly grant: LeaseGrant;
  readonly session: LiveSession | undefined;
  readonly askedAt: number; // monotonic ms
  readonly now: number; // monotonic ms
}

/** Validity counts from the question, the start from the answer: so the worker is never ahead of the manager. */
export function createLease({ grant, address, control, session, askedAt, now }: LeaseArrival): Lease {
  return {
    grant,
    address,
    control,
    session,
    expiresAt: askedAt + grant.validMs,
    renewedAt: askedAt,
    nextStartAt: now + grant.startInMs,
    permitsLeft: grant.permits ?? Infinity,
    inUse: 0,
    preparing: false,
    started: 0,
    sent: 0,
    usedAt: now,
    owner: undefined,
    over: false,
  };
}

/** Whether nothing about it is counted, so that one good answer is like the next. */
export function isOpen({ grant }: Lease): boolean {
  return grant.permits === null && !isScarceGrant(grant);
}

/** Whether others go without while this one is held; such a lease is renewed, any other is asked for anew. */
export function isScarce({ grant }: Lease): boolean {
  return isScarceGrant(grant);
}

export function isScarceGrant(grant: LeaseGrant): boolean {
  return grant.slots !== null || grant.spacingMs > 0 || grant.session !== undefined;
}
