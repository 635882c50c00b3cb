/**
 * What becomes of a task after an attempt.
 *
 *   done       its result is stored
 *   bury       it is stored as dead: attempts used up, refused for good, or deferred for too long
 *   retry      again after a back-off; the attempt is counted as a fault
 *   swap       again at once through another proxy; the proxy is blamed, not the task
 *   defer      again at a given time; nobody is blamed and no attempt is counted
 *   give-back  this worker stops; somebody else starts it anew
 *   cancelled  somebody does not want it any more
 *
 * Faults are bounded by `retries`, swaps by `swapsMax` between two faults, deferrals by `deferMaxMs`. So every task
 * ends, and with it every run. A task that is put back by a person starts with an empty list of faults.
 */
import type { FailureCode } from '../domain/failure.ts';
import type { DEFER_REASONS } from '../domain/tally.ts';
import type { Fault, TaskResult } from '../domain/task.ts';
import { BACKOFF_DEFAULTS, backoffMs, type BackoffLimits } from './backoff.ts';
import { addFault, FAULTS_MAX, shortenMessage } from './fault-history.ts';

export type AttemptOutcome =
  | { readonly kind: 'done'; readonly result: TaskResult }
  | {
      readonly kind: 'failed';
      readonly failure: {
        readonly code: FailureCode;
        readonly message: string;
        /** Before this time another attempt is known to be useless (epoch ms). */
        readonly retryAtMs?: number | undefined;
      };
      /** A PROXY or BLOCKED failure without it means that no other proxy was left to try. */
      readonly proxy?: string | undefined;
    }
  | { readonly kind: 'cancelled'; readonly why: string };

/** What a task takes along to its next attempt. */
export interface Carry {
  readonly faults: readonly Fault[];
  readonly triedProxies: readonly string[];
  readonly deferrals: number;
  /** When it was first deferred (epoch ms). */
  readonly deferredSince?: number | undefined;
}

export interface AttemptFacts extends Carry {
  readonly createdAt: number; // epoch ms
  readonly startedAt: number; // epoch ms
  readonly now: number; // epoch ms
  readonly random: number; // in [0, 1)
  readonly worker: string;
}

export interface SettleLimits {
  readonly retries: number; // RETRIES_MAX at most
  readonly swapsMax: number;
  readonly backoff: BackoffLimits;
  readonly deferMs: number; // where the failure gives no time
  readonly deferMaxMs: number; // since the first deferral
}

export const SETTLE_DEFAULTS: SettleLimits = {
  retries: 3,
  swapsMax: 3,
  backoff: BACKOFF_DEFAULTS,
  deferMs: 30_000,
  deferMaxMs: 24 * 3_600_000,
};

/** Attempts are counted by the faults that are carried, so more retries than that would never end. */
export const RETRIES_MAX = FAULTS_MAX - 1;
/** The server fires nothing sooner than this, and a task that is always due would spin. */
const DEFER_MIN_MS = 250;
/** Code of a task that was deferred for too long: a verdict on the task, not an error that anybody throws. */
export const EXPIRED = 'EXPIRED' as const;

type BuryReason = 'attempts-used-up' | 'refused' | 'expired';
type RetryReason = 'fault' | 'proxies-used-up';
type DeferReason = Exclude<(typeof DEFER_REASONS)[number], 'paused' | 'other-worker'>;

export type Settlement =
  | { readonly kind: 'done'; readonly reason: 'finished'; readonly result: TaskResult }
  | {
      readonly kind: 'bury';
      readonly reason: BuryReason;
      readonly error: { readonly code: FailureCode | typeof EXPIRED; readonly message: string };
      readonly faults: readonly Fault[];
    }
  | { readonly kind: 'retry'; readonly reason: RetryReason; readonly atMs: number; readonly carry: Carry }
  | { readonly kind: 'swap'; readonly reason: 'proxy-fault'; readonly carry: Carry }
  | { readonly kind: 'defer'; readonly reason: DeferReason; readonly atMs: number; readonly carry: Carry }
  | { readonly kind: 'give-back'; readonly reason: 'stopping' }
  | { readonly kind: 'cancelled'; readonly reason: 'cancelled'; readonly why: string };

type Failed = Extract<AttemptOutcome, { readonly kind: 'failed' }>;
type Consequence = (failed: Failed, facts: AttemptFacts, limits: SettleLimits) => Settlement;

const CONSEQUENCES = {
  NETWORK: (...attempt) => retryOrBury('fault', ...attempt),
  TIMEOUT: (...attempt) => retryOrBury('fault', ...attempt),
  INTERNAL: (...attempt) => retryOrBury('fault', ...attempt),
  TARGET: (...attempt) => retryOrBury('fault', ...attempt),
  PROXY: swapOrRetry,
  BLOCKED: swapOrRetry,
  THROTTLED: (...attempt) => deferOrBury('throttled', ...attempt),
  NO_EGRESS: (...attempt) => deferOrBury('no-egress', ...attempt),
  CONFLICT: (...attempt) => deferOrBury('locked-elsewhere', ...attempt),
  UNAVAILABLE: (...attempt) => deferOrBury('unavailable', ...attempt),
  REJECTED: (failed, facts) => bury('refused', failed, facts),
  INVALID: (failed, facts) => bury('refused', failed, facts),
  CANCELLED: () => ({ kind: 'give-back', reason: 'stopping' }),
} satisfies Record<FailureCode, Consequence>;

export function decideSettlement(
  outcome: AttemptOutcome,
  facts: AttemptFacts,
  limits: SettleLimits,
): Settlement {
  switch (outcome.kind) {
    case 'done':
      return { kind: 'done', reason: 'finished', result: outcome.result };
    case 'cancelled':
      return { kind: 'cancelled', reason: 'cancelled', why: outcome.why };
    case 'failed':
      return CONSEQUENCES[outcome.failure.code](outcome, facts, limits);
  }
}

function retryOrBury(
  reason: RetryReason,
  failed: Failed,
  facts: AttemptFacts,
  limits: SettleLimits,
): Settlement {
  const { now } = facts;
  const attempt = facts.faults.length + 1;
  if (attempt > Math.min(limits.retries, RETRIES_MAX)) return bury('attempts-used-up', failed, facts);
  const backedOffMs = now + backoffMs(attempt, limits.backoff, facts.random);
  // A site that asks for a month does not get to keep the run open for one.
  const askedMs = Math.min(failed.failure.retryAtMs ?? now, now + limits.deferMaxMs);
  const carry = { ...carryOf(facts), faults: withFault(failed, facts) };
  return { kind: 'retry', reason, atMs: Math.max(backedOffMs, askedMs), carry };
}

function swapOrRetry(failed: Failed, facts: AttemptFacts, limits: SettleLimits): Settlement {
  const { proxy } = failed;
  const tried = facts.triedProxies;
  // A proxy that comes a second time was handed out in spite of the list, and would be again.
  if (proxy !== undefined && tried.length < limits.swapsMax && !tried.includes(proxy)) {
    const carry = { ...carryOf(facts), triedProxies: [...tried, proxy] };
    return { kind: 'swap', reason: 'proxy-fault', carry };
  }
  // After the wait every proxy may be tried again: of a small pool none would be left.
  return retryOrBury('proxies-used-up', failed, { ...facts, triedProxies: [] }, limits);
}

function deferOrBury(
  reason: DeferReason,
  failed: Failed,
  facts: AttemptFacts,
  limits: SettleLimits,
): Settlement {
  const { now, deferrals } = facts;
  // A task may have waited in a long run for days before its first attempt, so its age says nothing by itself.
  const deferredSince = facts.deferredSince ?? (deferrals === 0 ? now : facts.createdAt);
  const endMs = deferredSince + limits.deferMaxMs;
  if (now >= endMs) return bury('expired', failed, facts);
  // Past the end it would only wait for its burial, so it gets its last chance at the end.
  const askedMs = Math.min(failed.failure.retryAtMs ?? now + limits.deferMs, endMs);
  const carry = { ...carryOf(facts), deferrals: deferrals + 1, deferredSince };
  return { kind: 'defer', reason, atMs: Math.max(askedMs, now + DEFER_MIN_MS), carry };
}

function bury(reason: BuryReason, failed: Failed, facts: AttemptFacts): Settlement {
  const { code, message } = failed.failure;
  const expired = reason === 'expired';
  const words = expired ? `deferred ${facts.deferrals} times, and still: ${message}` : message;
  const error = { code: expired ? EXPIRED : code, message: shortenMessage(words) };
  return { kind: 'bury', reason, error, faults: withFault(failed, facts) };
}

function carryOf({ faults, triedProxies, deferrals, deferredSince }: AttemptFacts): Carry {
  return { faults, triedProxies, deferrals, ...(deferredSince !== undefined && { deferredSince }) };
}

function withFault({ failure, proxy }: Failed, facts: AttemptFacts): readonly Fault[] {
  return addFault(facts.faults, {
    at: facts.now,
    code: failure.code,
    message: failure.message,
    worker: facts.worker,
    ...(proxy !== undefined && { proxy }),
    ms: Math.max(0, facts.now - facts.startedAt),
  });
}
