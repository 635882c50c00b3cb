/**
 * How many workers there should be. The caller measures and acts; this only decides.
 *
 *   no measurement, or an old one → hold: who sees nothing changes nothing
 *   below the floor               → repair, at once: somebody died, which is not low demand
 *   above the ceiling             → down, at once: somebody lowered it
 *   none, and work is there       → up, at once: nobody could tell of anything to wait for
 *   otherwise                     → what the policy needs, within the caps, after its cooldown
 */
import { applyCaps, leastWorkers, type Guard } from './caps.ts';
import { restsUntil, type LastChanges } from './cooldown.ts';
import type { PolicyName, ScaleLimits } from './limits.ts';
import { backlogOf, type Load } from './load.ts';
import { POLICIES, type NeedReason } from './policies.ts';

export const ACTIONS = ['up', 'down', 'hold', 'repair'] as const;
export type Action = (typeof ACTIONS)[number];

export type Reason =
  | 'no-metrics'
  | 'stale-metrics'
  | 'below-min'
  | 'above-max'
  | 'from-zero'
  | 'steady'
  | 'cooldown'
  | 'limited'
  | 'manual'
  | NeedReason;

export interface ScaleFacts extends LastChanges {
  readonly now: number; // epoch ms
  /** Undefined: nobody could measure it. */
  readonly load: Load | undefined;
  /** Workers that the driver has been told to run, where it can tell. */
  readonly ordered?: number | undefined;
  /** What the last decision wanted. */
  readonly desired?: number | undefined;
  readonly guard?: Guard | undefined;
}

export interface ScaleInputs extends LastChanges {
  readonly load?: Load | undefined;
  readonly backlog?: number | undefined;
  readonly ordered?: number | undefined;
  readonly guard?: Guard | undefined;
  /** What the policy asked for, before any limit, and why. */
  readonly need?: number | undefined;
  readonly needReason?: NeedReason | undefined;
  readonly restsUntil?: number | undefined;
}

export interface ScaleDecision {
  readonly from: number;
  readonly to: number;
  readonly action: Action;
  readonly reason: Reason;
  readonly policy: PolicyName;
  /** What kept the cluster smaller than the policy would have it. */
  readonly limitedBy: readonly string[];
  readonly inputs: ScaleInputs;
}

export function decide(facts: ScaleFacts, limits: ScaleLimits): ScaleDecision {
  const { load, now, lastUpAt, lastDownAt, ordered, guard } = facts;
  const last: ScaleInputs = { lastUpAt, lastDownAt, ordered };
  if (!load || now - load.at > limits.staleAfterMs) {
    const from = ordered ?? facts.desired ?? load?.live ?? 0;
    const inputs = load ? { ...last, load } : last;
    const reason = load ? 'stale-metrics' : 'no-metrics';
    return { from, to: from, action: 'hold', reason, policy: limits.policy, limitedBy: [], inputs };
  }

  const from = sizeOf(load, facts, limits);
  const backlog = backlogOf(load);
  const need = POLICIES[limits.policy](load, from, limits);
  const wanted = from === 0 && backlog > 0 ? Math.max(1, need.workers) : need.workers;
  const { workers: to, limitedBy } = applyCaps(wanted, { load, size: from, guard, limits });
  const inputs = { ...last, load, backlog, guard, need: need.workers, needReason: need.reason };
  const answer = (action: Action, target: number, reason: Reason, more: Partial<ScaleInputs> = {}) => ({
    ...{ from, to: target, action, reason, policy: limits.policy, limitedBy },
    inputs: { ...inputs, ...more },
  });

  const least = leastWorkers(from, guard, limits);
  if (from < least) return answer('repair', least, 'below-min');
  if (from > limits.max) return answer('down', limits.max, 'above-max');
  if (to === from) return answer('hold', from, limitedBy.length > 0 ? 'limited' : 'steady');
  if (from === 0) return answer('up', to, 'from-zero');
  const way = to > from ? 'up' : 'down';
  const until = restsUntil(way, facts, now, limits);
  if (until !== undefined) return answer('hold', from, 'cooldown', { restsUntil: until });
  return answer(way, to, limitedBy.length > 0 && way === 'down' ? 'limited' : need.reason);
}

/**
 * The workers to reckon with. A driver that counts knows best. One that does not gets the time of the cooldown to carry
 * out what it was told; after that the workers that live are the truth.
 */
function sizeOf(load: Load, facts: ScaleFacts, limits: ScaleLimits): number {
  const { ordered, desired, now, lastUpAt = -Infinity, lastDownAt = -Infinity } = facts;
  if (ordered !== undefined) return ordered;
  if (desired === undefined) return load.live;
  const isUp = lastUpAt >= lastDownAt;
  const underWay = now < (isUp ? lastUpAt + limits.cooldownUpMs : lastDownAt + limits.cooldownDownMs);
  if (!underWay) return load.live;
  return isUp ? Math.max(load.live, desired) : Math.min(load.live, desired);
}
