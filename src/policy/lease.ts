/**
 * What a worker may still do about a task that it has in hand. The server lends a task for a time; the worker asks for
 * more while the task shows life. A worker that may have lost the lease says nothing any more: its word would count
 * against whoever has the task now. (An acknowledgement after a stored outcome is no such word: the outcome stands.)
 */
export interface LeaseFacts {
  readonly now: number; // monotonic ms, like all of these
  /** When it was delivered, or last renewed. */
  readonly leasedAt: number;
  /** When its handler last showed life. */
  readonly livedAt: number;
  /** When the cluster last took a heartbeat of this worker. */
  readonly beatAt: number;
}

export type LeaseDecision = 'keep' | 'renew' | 'unheard' | 'lapsed';

/** The two clocks may differ by the time that a message travels. */
const TRUSTED_PART = 0.9;
const RENEW_PART = 1 / 3;

/**
 * What is wrong with a lease for a worker that beats so often, if anything. One that has not been heard of for nearly a
 * lease takes its tasks for lost: one late beat must not do that.
 */
export function checkLease(leaseMs: number, beatEveryMs: number): string | undefined {
  if (leaseMs >= 2 * beatEveryMs) return undefined;
  return `the lease of a task is ${leaseMs} ms on the server, but must be at least twice heartbeat.interval, which is ${beatEveryMs} ms`;
}

export function mayHaveLapsed(
  { now, leasedAt, beatAt }: Omit<LeaseFacts, 'livedAt'>,
  leaseMs: number,
): boolean {
  return now - Math.min(leasedAt, beatAt) > leaseMs * TRUSTED_PART;
}

export function decideLease(facts: LeaseFacts, leaseMs: number): LeaseDecision {
  if (mayHaveLapsed(facts, leaseMs)) return 'lapsed';
  if (facts.now - facts.livedAt >= leaseMs) return 'unheard';
  return facts.now - facts.leasedAt >= leaseMs * RENEW_PART ? 'renew' : 'keep';
}
