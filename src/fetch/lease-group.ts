/** The leases of one (scraper, host, policy), and the requests that wait for one of them. */
import type { Want } from '../wire/egress.ts';
import type { EgressPolicy } from './egress-policy.ts';
import type { Lease } from './lease.ts';
import type { Waiter } from './waiter.ts';
import { pickLease, type Pick } from './pick-lease.ts';
import { createUseMeter, planDemand, type Demand, type DemandLimits, type UseMeter } from './plan-wants.ts';

export interface LeaseGroup {
  readonly name: string;
  readonly host: string;
  readonly scraper: string;
  readonly policy: EgressPolicy;
  /** Those under which something may still start, the least recently used first. */
  readonly leases: Map<string, Lease>;
  readonly waiters: Set<Waiter>;
  readonly meter: UseMeter;
  /** Wants that the manager has not answered, by key. */
  readonly asking: Set<string>;
  /** When to ask again after a refusal, by key (monotonic ms). */
  readonly holdOff: Map<string, number>;
  /** What was granted last was of a kind that others go without while it is held. */
  scarce: boolean;
  wakeAt: number; // monotonic ms
  cancelWake: (() => void) | undefined;
}

export function createGroup(facts: Of<LeaseGroup, 'name' | 'host' | 'scraper' | 'policy'>): LeaseGroup {
  return {
    ...facts,
    leases: new Map(),
    waiters: new Set(),
    meter: createUseMeter(),
    asking: new Set(),
    holdOff: new Map(),
    scarce: false,
    wakeAt: Infinity,
    cancelWake: undefined,
  };
}

type Of<T, K extends keyof T> = { readonly [P in K]: T[P] };

export function isOwned({ policy }: LeaseGroup): boolean {
  return policy.exclusive || policy.session;
}

export function pickFor(group: LeaseGroup, waiter: Of<Waiter, 'request'>, now: number): Pick {
  const { tried, only, session, owner } = waiter.request;
  return pickLease(group.leases.values(), {
    now,
    tried,
    only,
    session,
    owner: isOwned(group) ? owner : undefined,
  });
}

/** What the leases in hand will serve of a key; Infinity where they only have to become free. */
function servableOf(group: LeaseGroup, waiter: Waiter, now: number): number {
  if (waiter.fresh) return 0;
  let permits = 0;
  for (const lease of group.leases.values()) {
    const pick = pickLease([lease], {
      now,
      tried: waiter.request.tried,
      only: waiter.request.only,
      session: waiter.request.session,
      owner: isOwned(group) ? waiter.request.owner : undefined,
    });
    if (pick.kind !== 'none') permits += lease.permitsLeft;
    if (permits === Infinity) break;
  }
  return permits;
}

/** Those of one key for whom the leases in hand are not enough. */
export function unservedOf(group: LeaseGroup, waiters: readonly Waiter[], now: number): readonly Waiter[] {
  const [first] = waiters;
  if (!first) return [];
  // Each has leases of its own.
  if (isOwned(group)) return waiters.filter((waiter) => servableOf(group, waiter, now) === 0);
  return waiters.slice(servableOf(group, first, now));
}

export function waitersByKey(group: LeaseGroup): Map<string, [Waiter, ...Waiter[]]> {
  const byKey = new Map<string, [Waiter, ...Waiter[]]>();
  for (const waiter of group.waiters) {
    const same = byKey.get(waiter.key);
    if (same) same.push(waiter);
    else byKey.set(waiter.key, [waiter]);
  }
  return byKey;
}

export interface PlannedWant {
  readonly group: LeaseGroup;
  readonly key: string;
  readonly want: Want;
}

/** What to ask for now, for this group: one want per key. */
export function planGroupWants(
  group: LeaseGroup,
  facts: { readonly now: number; readonly robots: number | undefined; readonly limits: DemandLimits },
): PlannedWant[] {
  const planned: PlannedWant[] = [];
  const byKey = waitersByKey(group);
  for (const [key, waiters] of byKey) {
    const demand = demandOf(group, waiters, facts);
    if (demand) planned.push({ group, key, want: wantOf(group, demand, facts.robots, waiters[0]) });
  }
  if (!byKey.has('') && !isOwned(group)) {
    const demand = mayAsk(group, '', facts.now) ? demandAhead(group, facts) : undefined;
    if (demand) planned.push({ group, key: '', want: wantOf(group, demand, facts.robots, undefined) });
  }
  return planned;
}

export function mayAsk({ asking, holdOff }: LeaseGroup, key: string, now: number): boolean {
  return !asking.has(key) && (holdOff.get(key) ?? 0) <= now;
}

function demandOf(
  group: LeaseGroup,
  waiters: readonly [Waiter, ...Waiter[]],
  { now, limits }: { readonly now: number; readonly limits: DemandLimits },
): Demand | undefined {
  const [first] = waiters;
  if (!mayAsk(group, first.key, now)) return undefined;
  // All slots in use: more of them would help.
  const busy = !first.fresh && !isOwned(group) && pickFor(group, first, now).kind === 'busy';
  const unserved = busy ? waiters.length : unservedOf(group, waiters, now).length;
  if (unserved === 0) return undefined;
  const usedLately = first.key === '' && !isOwned(group) ? group.meter.lately(now) : 0;
  return planDemand({ ...holdings(group, now), unserved, usedLately }, limits);
}

function demandAhead(
  group: LeaseGroup,
  { now, limits }: { readonly now: number; readonly limits: DemandLimits },
): Demand | undefined {
  return planDemand({ ...holdings(group, now), unserved: 0, usedLately: group.meter.lately(now) }, limits);
}

/** A lease in the last third of its time counts as used up: its successor is asked for before it ends. */
export function holdings(
  group: LeaseGroup,
  now: number,
): { readonly permits: number; readonly inUse: number; readonly scarce: boolean } {
  const { scarce } = group;
  let permits = 0;
  let inUse = 0;
  for (const lease of group.leases.values()) {
    inUse += lease.inUse;
    if (lease.expiresAt - now > lease.grant.validMs / 3) permits += lease.permitsLeft;
  }
  return { permits, inUse, scarce };
}

function wantOf(
  group: LeaseGroup,
  { count, slots }: Demand,
  robots: number | undefined,
  waiter: Waiter | undefined,
): Want {
  const { via, select, exclusive, session, limits, heedsRobots } = group.policy;
  const { tried = [], only, stickTo, session: id } = waiter?.request ?? {};
  return {
    host: group.host,
    scraper: group.scraper,
    count,
    slots,
    via,
    select,
    exclusive,
    tried,
    ...(only !== undefined && { only }),
    ...(stickTo !== undefined && { stickTo }),
    ...(session && { session: id === undefined ? ('any' as const) : { id } }),
    ...(limits && { limits }),
    ...(!heedsRobots ? { robots: 'ignored' as const } : robots !== undefined && { robots }),
  };
}
