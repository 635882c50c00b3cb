/** Permits of leases, and where they count: at the egress, and where the host has caps, there too. */
import { pairOf } from './hosts.ts';
import { addNumber, countNumbers } from './number-set.ts';
import { settle } from './pool.ts';
import { leftOf, type Host, type Lease, type Pair } from './entities.ts';
import type { State } from './state.ts';
import { createMeter, spend } from './window.ts';

function countingPair({ host, egress }: Lease): Pair | undefined {
  if (!host.meter) return undefined;
  const pair = pairOf(host, egress.id);
  pair.meter ??= createMeter();
  return pair;
}

/** Negative: they are held no more. */
export function hold(lease: Lease, count: number): void {
  if (lease.permits === null || count === 0) return;
  lease.egress.meter.held += count;
  const pair = countingPair(lease);
  if (pair?.meter) pair.meter.held += count;
  if (lease.host.meter) lease.host.meter.held += count;
}

/** So many were over by then. */
export function spendPermits(state: State, lease: Lease, at: number, count: number): void {
  if (lease.permits === null || count <= 0) return;
  spend(lease.egress.meter, at, count);
  state.journal.spent.add(lease.egress);
  const pair = countingPair(lease);
  if (!pair?.meter || !lease.host.meter) return;
  spend(pair.meter, at, count);
  spend(lease.host.meter, at, count);
  state.journal.pairs.add(pair);
}

/** The latest start at a host, and through one egress, for the distance to the next. */
export function noteStart(host: Host, egress: string, at: number): void {
  if (at <= 0) return;
  host.lastStartAt = Math.max(host.lastStartAt, at);
  const pair = host.limits.egressDelayMs > 0 ? pairOf(host, egress) : host.pairs.get(egress);
  if (pair) pair.lastStartAt = Math.max(pair.lastStartAt, at);
}

/** `count` requests have started under it in all, the latest at `latestAt`. */
export function noteStarted(state: State, lease: Lease, count: number, latestAt: number): void {
  const at = Math.max(latestAt, lease.startAt);
  if (count <= lease.started && at <= lease.lastStartAt) return;
  lease.started = Math.max(lease.started, count);
  lease.lastStartAt = Math.max(lease.lastStartAt, at);
  noteStart(lease.host, lease.egress.id, at);
  lease.host.noneUntil = 0;
  if (lease.kept) state.journal.leases.add(lease);
}

export interface Ended {
  readonly n: number;
  readonly sent: boolean;
  readonly startedAt: number;
}

/** One request is over, or will never be sent. False: that was known. */
export function noteEnded(state: State, lease: Lease, { n, sent, startedAt }: Ended, now: number): boolean {
  if (!Number.isSafeInteger(n) || n < 0 || (lease.permits !== null && n >= lease.permits)) return false;
  if (!addNumber(lease.seen, n)) return false;
  if (lease.over) {
    // Given back, and yet it was sent: better counted late than never.
    if (sent && !lease.expired) spendPermits(state, lease, now, 1);
    return true;
  }
  hold(lease, -1);
  if (sent) {
    spendPermits(state, lease, now, 1);
    noteStarted(state, lease, sentOf(lease), Math.min(now, startedAt));
    if (lease.session) lease.session.uses += 1;
  } else {
    lease.unsent += 1;
    lease.host.noneUntil = 0;
  }
  if (lease.kept) state.journal.leases.add(lease);
  settle(state, lease.egress, now);
  return true;
}

function sentOf({ seen, unsent }: Lease): number {
  return countNumbers(seen) - unsent;
}

/** What it holds is free; but what is known to have started was sent, also if its end was never told. */
export function releasePermits(state: State, lease: Lease, now: number): void {
  const left = leftOf(lease);
  hold(lease, -left);
  spendPermits(state, lease, now, Math.min(left, lease.started - sentOf(lease)));
}

/** Nobody knows what became of the rest: it counts as sent at the last moment. */
export function forfeitPermits(state: State, lease: Lease): void {
  const left = leftOf(lease);
  hold(lease, -left);
  spendPermits(state, lease, lease.dueAt, left);
}
