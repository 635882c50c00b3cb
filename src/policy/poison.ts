/**
 * Whether a delivered task may run beside others. A task that was delivered before and never settled may have killed
 * its worker, or only have been held by a worker that another task killed. So a suspect runs alone: then a crash can
 * only be its own doing. The delivery count alone would bury the neighbours as well.
 */
export interface DeliveryFacts {
  /** How often the server has delivered this message, this time included. */
  readonly deliveries: number;
  /** How often it was started alone without being settled; this count must survive the worker. */
  readonly soloStarts: number;
}

export interface PoisonLimits {
  readonly trustedDeliveries: number;
  readonly soloStartsMax: number;
}

export const POISON_DEFAULTS: PoisonLimits = { trustedDeliveries: 2, soloStartsMax: 2 };

export type DeliveryVerdict =
  | { readonly verdict: 'run'; readonly reason: 'trusted' }
  | { readonly verdict: 'run-alone'; readonly reason: 'suspect' }
  | { readonly verdict: 'bury'; readonly reason: 'poison'; readonly message: string };

export function judgeDelivery(facts: DeliveryFacts, limits: PoisonLimits): DeliveryVerdict {
  const { deliveries, soloStarts } = facts;
  if (deliveries <= limits.trustedDeliveries) return { verdict: 'run', reason: 'trusted' };
  if (soloStarts < limits.soloStartsMax) return { verdict: 'run-alone', reason: 'suspect' };
  return {
    verdict: 'bury',
    reason: 'poison',
    message: `delivered ${deliveries} times, started alone ${soloStarts} times, and never settled: it seems to end its worker`,
  };
}
