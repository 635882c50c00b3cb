/** Takes in what a worker tells. Said twice, late, or of leases that nobody knows, it does no harm. */
import type { EgressReport, ReportReply, Use } from '../../wire/egress.ts';
import { isClosed, noteBlocked, noteThrottled } from './closures.ts';
import { noteGood } from './host-pace.ts';
import { noteUse } from './health.ts';
import { hostOf, refreshLimits } from './hosts.ts';
import { endLease, renewLease } from './leases.ts';
import { noteEnded, noteStarted } from './permits.ts';
import { noteRobotsNews } from './robots-cache.ts';
import { isGreedy } from './shares.ts';
import { noteSessionNews } from './session-news.ts';
import type { Host, Lease } from './entities.ts';
import type { State } from './state.ts';

/** What a worker is told about a host that only a person opens. */
const FAR_MS = 300_000;

export function report(state: State, told: EgressReport, now: number): ReportReply {
  const ended = new Set<string>();
  const hosts = new Set<Host>();
  for (const { lease: id, count, latestAgoMs } of told.started ?? []) {
    const lease = liveLease(state, told.worker, id);
    if (lease)
      noteStarted(state, lease, Math.min(count, lease.permits ?? count), now - Math.max(0, latestAgoMs));
  }
  for (const use of told.uses) {
    const lease = liveLease(state, told.worker, use.lease) ?? pastLease(state, told.worker, use.lease);
    if (!lease || lease.over) ended.add(use.lease);
    if (!lease) continue;
    hosts.add(lease.host);
    for (let nth = 0; nth < (use.times ?? 1); nth += 1)
      takeUse(state, lease, { ...use, n: use.n + nth }, now);
  }
  // Before its lease is given back: a session may end with it.
  for (const news of told.sessions) noteSessionNews(state, told.worker, news, now);
  for (const id of told.done) {
    const lease = liveLease(state, told.worker, id);
    if (lease) endLease(state, lease, 'given back', now);
  }
  for (const id of told.renew) {
    const lease = liveLease(state, told.worker, id);
    if (lease) hosts.add(lease.host);
    if (!lease || !isWelcome(state, lease, now)) ended.add(id);
  }
  for (const news of told.robots) {
    noteRobotsNews(state, news, now);
    refreshLimits(state, hostOf(state, news.host, now), now);
  }
  return { ended: [...ended], closed: closedAmong(hosts, now) };
}

function liveLease({ leases }: State, worker: string, id: string): Lease | undefined {
  const lease = leases.get(id);
  return lease?.worker === worker ? lease : undefined;
}

function pastLease({ past }: State, worker: string, id: string): Lease | undefined {
  const lease = past.get(id);
  return lease?.worker === worker ? lease : undefined;
}

function isWelcome(state: State, lease: Lease, now: number): boolean {
  if (isGreedy(lease.host, lease.worker, now)) lease.revoked = true;
  return renewLease(state, lease, now);
}

function takeUse(state: State, lease: Lease, use: Use, now: number): void {
  const { outcome } = use;
  const startedAt = Math.min(now, now - use.startedAgoMs);
  const isNew = noteEnded(state, lease, { n: use.n, sent: outcome !== 'unsent', startedAt }, now);
  if (!isNew || outcome === 'unsent') return;
  const { host, egress } = lease;
  noteUse(state, host, egress, { outcome, ms: use.ms, startedAt, status: use.status }, now);
  switch (outcome) {
    case 'throttled':
      noteThrottled(state, host, egress, { startedAt, retryAfterMs: use.retryAfterMs }, now);
      return;
    case 'blocked':
      noteBlocked(state, host, egress, startedAt, now);
      return;
    case 'ok':
      noteGood(state, host, host.pairs.get(egress.id), now);
      return;
    case 'target':
    case 'proxy':
    case 'network':
    case 'timeout':
  }
}

function closedAmong(hosts: Iterable<Host>, now: number): ReportReply['closed'] {
  const closed: { host: string; forMs: number }[] = [];
  for (const host of hosts)
    if (isClosed(host, now))
      closed.push({
        host: host.name,
        forMs: host.closure?.until === undefined ? FAR_MS : host.closure.until - now,
      });
  return closed;
}
