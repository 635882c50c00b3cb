/**
 * What must be looked after while tasks are in hand, in one sweep over all of them instead of timers for each:
 * leases, time limits, handlers that do not listen, and tasks that wait here for too long.
 */
import { decideLease } from '../../policy/lease.ts';
import { leaveBehind, tellToEnd } from './attempt.ts';
import type { Crew } from './crew.ts';
import type { Delivery, Hand, Lanes, WorkerLimits, WorkerPorts } from './ports.ts';

export interface UpkeepParts {
  readonly ports: Pick<WorkerPorts, 'lastBeatAt' | 'log'>;
  readonly limits: WorkerLimits;
  readonly crew: Crew;
  readonly lanes: Lanes;
}

/** Longer than the work that a worker takes in ahead; whoever waits longer had bad luck and goes to another worker. */
const WAIT_MAX_MS = 10_000;
/** Where nothing has started for so long, all slots are in the hands of slow tasks; another worker may have free ones. */
const STUCK_MS = 1_500;
const WAIT_LEASE_PARTS = 4;
/** What takes less long than this is over before anybody could read about it. */
const HAND_AFTER_MS = 1_000;
const HANDS_MAX = 1_000;

export function sweep(parts: UpkeepParts): void {
  const now = performance.now();
  for (const attempt of parts.crew.running) {
    const { delivery, livedMs, startedMs, timeoutMs, toldMs } = attempt;
    keepLease(parts, delivery, { now, livedAt: livedMs });
    if (toldMs === undefined && now - startedMs >= timeoutMs) tellToEnd(attempt, { kind: 'timeout' });
    if (toldMs !== undefined && now - toldMs >= parts.limits.abortGraceMs) {
      const { id, run } = delivery.task.spec;
      parts.ports.log.warn('task.left', { id, run, reason: 'its handler does not heed its signal' });
      leaveBehind(attempt);
    }
  }
  for (const delivery of parts.crew.settling) keepLease(parts, delivery, { now, livedAt: now });
  for (const delivery of parts.crew.suspects) keepLease(parts, delivery, { now, livedAt: now });
  sweepWaiting(parts, now);
}

function keepLease(
  { ports, limits, lanes }: UpkeepParts,
  delivery: Delivery,
  { now, livedAt }: { now: number; livedAt: number },
): void {
  const facts = { now, leasedAt: delivery.leasedAt, livedAt, beatAt: ports.lastBeatAt() };
  if (decideLease(facts, limits.leaseMs) === 'renew') lanes.extend(delivery);
}

/** A task that has waited for too long goes to somebody else. One whose lease may be over is forgotten: it is, or will be, somebody else's. */
function sweepWaiting({ ports, limits, crew, lanes }: UpkeepParts, now: number): void {
  if (crew.waiting.size() === 0) return;
  const beatAt = ports.lastBeatAt();
  const waitMaxMs = Math.min(WAIT_MAX_MS, limits.leaseMs / WAIT_LEASE_PARTS);
  const lastStartMs = crew.lastStartMs();
  const leaving = crew.waiting.remove((delivery) => {
    const { leasedAt, receivedAt } = delivery;
    const lease = decideLease({ now, leasedAt, livedAt: now, beatAt }, limits.leaseMs);
    if (lease === 'lapsed') return true;
    if (now - receivedAt > waitMaxMs || now - Math.max(receivedAt, lastStartMs) > STUCK_MS) return true;
    if (lease === 'renew') lanes.extend(delivery);
    return false;
  });
  for (const delivery of leaving) crew.giveBack(delivery);
}

/** What this worker has had in hand for a while: others give it back if this worker dies. */
export function listInHand(crew: Crew): Hand[] {
  const now = performance.now();
  const before = now - HAND_AFTER_MS;
  const hands: Hand[] = [];
  for (const { delivery, startedAt, startedMs } of crew.running)
    if (startedMs < before && hands.length < HANDS_MAX) hands.push(handOf(delivery, startedAt));
  for (const delivery of crew.suspects)
    if (delivery.receivedAt < before && hands.length < HANDS_MAX)
      hands.push(handOf(delivery, Math.round(Date.now() - (now - delivery.receivedAt))));
  return hands;
}

function handOf({ task, reply }: Delivery, since: number): Hand {
  const { run, id, scraper } = task.spec;
  return { run, id, scraper, since, attempt: task.faults.length + 1, reply };
}
