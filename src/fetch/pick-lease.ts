/** Which lease a request may start under, and when. The first that fits wins: the caller keeps the order of use. */
import type { Lease } from './lease.ts';
import type { Used } from './permit.ts';

export interface PickFacts {
  readonly now: number; // monotonic ms
  readonly tried: readonly string[];
  readonly only?: string | undefined;
  readonly session?: string | undefined;
  /** Where leases belong to one at a time: who asks. */
  readonly owner?: object | undefined;
}

export type Pick =
  | { readonly kind: 'now'; readonly lease: Lease }
  /** One that fits may start something at this time. */
  | { readonly kind: 'at'; readonly atMs: number }
  /** One that fits has all its slots in use. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'none' };

const NONE: Pick = { kind: 'none' };
const BUSY: Pick = { kind: 'busy' };

export function pickLease(leases: Iterable<Lease>, facts: PickFacts): Pick {
  let atMs = Infinity;
  let busy = false;
  for (const lease of leases) {
    if (!fits(lease, facts)) continue;
    const { slots } = lease.grant;
    const startsAt = Math.max(facts.now, lease.nextStartAt);
    if (startsAt >= lease.expiresAt) continue;
    if (lease.preparing || (slots !== null && lease.inUse >= slots)) busy = true;
    else if (startsAt <= facts.now) return { kind: 'now', lease };
    else atMs = Math.min(atMs, startsAt);
  }
  if (atMs < Infinity) return { kind: 'at', atMs };
  return busy ? BUSY : NONE;
}

function fits(lease: Lease, { tried, only, session, owner }: PickFacts): boolean {
  const { egress } = lease.grant;
  if (lease.over || lease.permitsLeft <= 0) return false;
  if (lease.owner !== undefined && lease.owner !== owner) return false;
  if (session !== undefined && lease.grant.session?.id !== session) return false;
  if (only !== undefined) return egress === only;
  return tried.length === 0 || !tried.includes(egress);
}

/** The start after one at `at`; chance only stretches the distance. */
export function nextStart(at: number, grant: Lease['grant'], random: number): number {
  return grant.spacingMs === 0 ? at : at + grant.spacingMs * (1 + grant.jitter * random);
}

/** From the permit to the wire, on a busy machine. */
export const SENDING_MS = 20;

/** The site saw a request after there was a connection and before it answered; the next one keeps its distance to that. */
export function seenAfterMs({ connectMs = 0, firstByteMs = Infinity }: Used): number {
  return Math.min(firstByteMs, connectMs + SENDING_MS);
}
