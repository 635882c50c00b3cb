/** Who holds which egresses, and the leases that are over but may still be heard of. */
import type { Egress, Lease } from './entities.ts';
import type { State } from './state.ts';

const PAST_MAX = 10_000;

export function takeHold({ holdings }: State, worker: string, { id }: Egress): void {
  let held = holdings.get(worker);
  if (!held) holdings.set(worker, (held = new Map<string, number>()));
  held.set(id, (held.get(id) ?? 0) + 1);
}

export function letGo({ holdings }: State, worker: string, { id }: Egress): void {
  const held = holdings.get(worker);
  const count = (held?.get(id) ?? 0) - 1;
  if (count > 0) held?.set(id, count);
  else held?.delete(id);
  if (held?.size === 0) holdings.delete(worker);
}

/** In a ring: to look for the oldest key of a map that changes all the time is slow. */
export function remember({ past, pastIds }: State, lease: Lease): void {
  const place = pastIds.next % PAST_MAX;
  past.delete(pastIds.ring[place] ?? '');
  pastIds.ring[place] = lease.id;
  pastIds.next += 1;
  past.set(lease.id, lease);
}
