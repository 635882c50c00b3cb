/** Requests at once to a host, shared fairly among the workers that want some of them of late. */
import type { Want } from '../../wire/egress.ts';
import type { Host } from './entities.ts';

const LATELY_MS = 5_000;
const ASKERS_MAX = 4_096;

/** Null: no limit. */
export function slotsFor(host: Host, worker: string, want: Want, now: number): number | null {
  const { concurrency } = host.limits;
  if (concurrency === 0) return null;
  noteAsker(host, worker, now);
  const free = concurrency - host.slots;
  const mine = shareOf(host) - heldBy(host, worker);
  const slots = Math.max(0, Math.min(want.slots, want.count, free, mine));
  // Somebody with less than its share goes without: those with more are not renewed.
  if (slots === 0 && mine > 0) host.shortAt = now;
  return slots;
}

function noteAsker({ askers }: Host, worker: string, now: number): void {
  askers.delete(worker);
  askers.set(worker, now);
  for (const [name, at] of askers) {
    if (now - at <= LATELY_MS && askers.size <= ASKERS_MAX) break;
    askers.delete(name);
  }
}

function shareOf(host: Host): number {
  const names = new Set(host.askers.keys());
  for (const lease of host.leases) names.add(lease.worker);
  return Math.ceil(host.limits.concurrency / Math.max(1, names.size));
}

function heldBy(host: Host, worker: string): number {
  let held = 0;
  for (const lease of host.leases) if (lease.worker === worker) held += lease.slots ?? 0;
  return held;
}

/** Whether a worker holds more than its share while another goes without. */
export function isGreedy(host: Host, worker: string, now: number): boolean {
  if (host.limits.concurrency === 0 || now - host.shortAt > LATELY_MS) return false;
  return heldBy(host, worker) > shareOf(host);
}
