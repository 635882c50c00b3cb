/**
 * What has changed since the last time it was stored. The order of the writes matters where they do not all reach the
 * store: what was spent comes before the leases it was spent from, so that a part of them counts it twice
 * rather than not at all.
 */
import type { EgressEvent, EgressWrite } from './records.ts';
import type { Egress, Host, Identity, Lease, Pair, Robots } from './entities.ts';
import * as to from './to-record.ts';

export interface Journal {
  readonly spent: Set<Egress>;
  readonly pairs: Set<Pair>;
  readonly proxies: Set<Egress>;
  readonly hosts: Set<Host>;
  readonly sessions: Set<Identity>;
  readonly robots: Set<Robots>;
  readonly leases: Set<Lease>;
  readonly events: EgressEvent[];
  /** Leases that are not on record may be used until then, and the store knows until when it was told. */
  openUntil: number;
  openTold: number;
}

const OPEN_AHEAD_MS = 5_000;

export function createJournal(): Journal {
  return {
    spent: new Set(),
    pairs: new Set(),
    proxies: new Set(),
    hosts: new Set(),
    sessions: new Set(),
    robots: new Set(),
    leases: new Set(),
    events: [],
    openUntil: 0,
    openTold: 0,
  };
}

export function takeWrites(journal: Journal, now: number): EgressWrite[] {
  const writes: EgressWrite[] = [];
  const push = (write: EgressWrite | undefined): void => {
    if (write) writes.push(write);
  };
  for (const egress of journal.spent) push(to.spentWrite(egress, now));
  for (const pair of journal.pairs) push(to.pairWrite(pair, now));
  for (const egress of journal.proxies) push(to.proxyWrite(egress));
  for (const host of journal.hosts) push(to.hostWrite(host, now));
  for (const identity of journal.sessions) push(to.sessionWrite(identity, now));
  for (const robots of journal.robots) push(to.robotsWrite(robots, now));
  if (journal.openUntil > journal.openTold) {
    // Further ahead than needed, so that it is not written with every lease.
    journal.openTold = journal.openUntil + OPEN_AHEAD_MS;
    push(to.openWrite(journal.openTold, now));
  }
  for (const lease of journal.leases) push(to.leaseWrite(lease, now));
  for (const set of [
    journal.spent,
    journal.pairs,
    journal.proxies,
    journal.hosts,
    journal.sessions,
    journal.robots,
    journal.leases,
  ])
    set.clear();
  return writes;
}

export function takeEvents(journal: Journal): EgressEvent[] {
  return journal.events.splice(0);
}
