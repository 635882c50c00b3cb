/** How a scraper wants to leave the cluster, with everything filled in that it left out. */
import type { HostLimits, Selection, Via, WhenNone } from '../domain/egress.ts';
import type { Scraper } from '../scrapers/scraper.ts';

export interface EgressPolicy {
  readonly via: Via;
  readonly whenNone: WhenNone;
  readonly select: Selection;
  readonly exclusive: boolean;
  readonly session: boolean;
  readonly limits: Partial<HostLimits> | undefined;
  /** Whether the manager shall hold it back until robots.txt of the host is known. */
  readonly heedsRobots: boolean;
  /** Two policies of one key may share their leases. */
  readonly key: string;
}

export interface EgressDefaults {
  readonly via: Via;
  readonly whenNone: WhenNone;
  readonly select: Selection;
}

export function readEgressPolicy(
  { egress = {}, limits }: Pick<Scraper, 'egress' | 'limits'>,
  defaults: EgressDefaults,
): EgressPolicy {
  const { via = defaults.via, whenNone = defaults.whenNone, select = defaults.select } = egress;
  const { exclusive = false, session = false } = egress;
  const key = JSON.stringify([via, select, exclusive, session, limits ?? null]);
  return { via, whenNone, select, exclusive, session, limits, heedsRobots: true, key };
}

/** The same, for what robots.txt has no say in: what the scraper fetches in spite of it, and robots.txt itself. */
export function ignoreRobots(policy: EgressPolicy): EgressPolicy {
  return { ...policy, heedsRobots: false, key: `ignoring ${policy.key}` };
}

/** The same, but out of the worker's own address. */
export function goDirectly(policy: EgressPolicy): EgressPolicy {
  return { ...policy, via: 'direct', whenNone: 'wait', key: `direct ${policy.key}` };
}
