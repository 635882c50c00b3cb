/** Asks the manager: all that is wanted in one turn of the loop in one question, and not again before it makes sense. */
import { messageOf } from '../domain/failure.ts';
import type { Clock } from '../runtime/clock.ts';
import { noLongerThan } from '../runtime/no-longer-than.ts';
import type { Log } from '../telemetry/log.ts';
import type { AcquireReply, AcquireRequest, LeaseGrant, RobotsAdvice, WantAnswer } from '../wire/egress.ts';
import {
  holdings,
  isOwned,
  mayAsk,
  planGroupWants,
  unservedOf,
  waitersByKey,
  type LeaseGroup,
  type PlannedWant,
} from './lease-group.ts';
import { createLease, isScarceGrant, type Way } from './lease.ts';
import type { LeaseShelf } from './lease-shelf.ts';
import { createLiveSession } from './live-session.ts';
import { mayWait } from './patience.ts';
import type { Denial } from './permit.ts';
import { DEMAND_DEFAULTS, runsLow } from './plan-wants.ts';
import type { ReportQueue } from './report-queue.ts';
import type { Waiter } from './waiter.ts';

export interface Asker {
  /** Asks soon for what this group lacks. */
  plan(group: LeaseGroup): void;
  /** Looks after this group again at this time. */
  wake(group: LeaseGroup, atMs: number): void;
  runsLow(group: LeaseGroup): boolean;
  /** Why the manager gave nothing the last time. */
  lastWord(group: LeaseGroup): Omit<Denial, 'kind'> | undefined;
}

export interface AskerParts {
  readonly worker: string;
  readonly machine: string;
  readonly port: { acquire(request: AcquireRequest): Promise<AcquireReply | undefined> };
  readonly clock: Clock;
  readonly queue: ReportQueue;
  readonly log: Log;
  readonly shelf: LeaseShelf;
  readonly readWay: (grant: LeaseGrant) => Way;
  readonly robotsVersion: (host: string) => number | undefined;
  readonly onRobots: (host: string, advice: RobotsAdvice) => void;
  readonly pump: (group: LeaseGroup) => void;
  readonly deny: (waiter: Waiter, denial: Omit<Denial, 'kind'>) => void;
}

const WANTS_MAX = 256;
const AWAY_RETRY_MS = 250;
const HOLD_MIN_MS = 20;
const FLUSH_MAX_MS = 500;
const KEYS_MAX = 256;
const UNREADABLE_RETRY_MS = 30_000;

export function createAsker(parts: AskerParts): Asker {
  const { clock, shelf } = parts;
  const dirty = new Set<LeaseGroup>();
  const words = new WeakMap<LeaseGroup, Omit<Denial, 'kind'>>();
  let planned = false;

  return {
    plan,
    wake,
    lastWord: (group) => words.get(group),
    runsLow(group) {
      const now = clock.now();
      if (group.scarce || isOwned(group) || !mayAsk(group, '', now)) return false;
      const usedLately = group.meter.lately(now);
      if (usedLately < DEMAND_DEFAULTS.aheadMin) return false;
      return runsLow({ ...holdings(group, now), usedLately }, DEMAND_DEFAULTS);
    },
  };

  function plan(group: LeaseGroup): void {
    dirty.add(group);
    if (planned) return;
    planned = true;
    clock.soon(() => {
      planned = false;
      void ask();
    });
  }

  function wake(group: LeaseGroup, atMs: number): void {
    if (group.wakeAt <= atMs) return;
    group.cancelWake?.();
    group.wakeAt = atMs;
    group.cancelWake = clock.after(Math.max(1, atMs - clock.now()), () => {
      group.wakeAt = Infinity;
      group.cancelWake = undefined;
      if (group.waiters.size > 0) parts.pump(group);
    });
  }

  async function ask(): Promise<void> {
    // What was given back or has gone wrong changes the answer, so it is said first.
    if (parts.queue.isPressing()) await noLongerThan(clock, FLUSH_MAX_MS, parts.queue.flush());
    const wants = takeWants();
    if (wants.length === 0) return;
    const askedAt = clock.now();
    const request = { worker: parts.worker, machine: parts.machine, wants: wants.map(({ want }) => want) };
    const reply = await parts.port.acquire(request).catch(() => undefined);
    const touched = new Set<LeaseGroup>();
    wants.forEach((each, index) => {
      each.group.asking.delete(each.key);
      touched.add(each.group);
      const answer = reply?.answers[index];
      if (!answer) holdOff(each, AWAY_RETRY_MS);
      else if (answer.kind === 'granted' && answer.leases.length > 0) takeIn(each, answer, askedAt);
      else refused(each, answer);
    });
    for (const group of [...touched, ...dirty]) parts.pump(group);
  }

  function takeWants(): PlannedWant[] {
    const wants: PlannedWant[] = [];
    const now = clock.now();
    for (const group of dirty) {
      if (wants.length >= WANTS_MAX) break;
      const facts = { now, robots: parts.robotsVersion(group.host), limits: DEMAND_DEFAULTS };
      const planned = planGroupWants(group, facts);
      const room = WANTS_MAX - wants.length;
      if (planned.length <= room) dirty.delete(group);
      for (const each of planned.slice(0, room)) {
        group.asking.add(each.key);
        wants.push(each);
      }
    }
    return wants;
  }

  function takeIn(
    { group, key }: PlannedWant,
    { leases, robots }: Extract<WantAnswer, { readonly kind: 'granted' }>,
    askedAt: number,
  ): void {
    const now = clock.now();
    words.delete(group);
    group.holdOff.delete(key);
    group.scarce = leases.some(isScarceGrant);
    for (const grant of leases) {
      try {
        const session = grant.session && createLiveSession(grant.session);
        shelf.add(group, createLease({ grant, ...parts.readWay(grant), session, askedAt, now }));
      } catch (error) {
        // Sealed with a key that this worker does not have: of no use here.
        parts.log.error('egress.unreadable', { egress: grant.egress, reason: messageOf(error) });
        parts.queue.done(grant.id);
        words.set(group, { reason: 'no_proxy_available', retryInMs: UNREADABLE_RETRY_MS });
      }
    }
    const waiters = waitersByKey(group).get(key);
    let isTold = false;
    for (const waiter of waiters ?? []) {
      isTold ||= waiter.fresh;
      waiter.fresh = false;
      waiter.robots = robots;
    }
    if (!isTold) parts.onRobots(group.host, robots);
    // Of a grant that fits nobody more would fit nobody either.
    if (waiters && unservedOf(group, waiters, now).length === waiters.length)
      holdOff({ group, key }, AWAY_RETRY_MS);
  }

  /** Those that the leases in hand will serve stay; the others wait for a moment, or are sent away. */
  function refused({ group, key }: PlannedWant, answer: WantAnswer): void {
    const { reason, retryInMs } = answer.kind === 'none' ? answer : unsaid(answer.robots);
    const now = clock.now();
    words.set(group, { reason, retryInMs });
    const waiters = waitersByKey(group).get(key);
    holdOff({ group, key }, Math.max(HOLD_MIN_MS, retryInMs));
    for (const waiter of unservedOf(group, waiters ?? [], now)) {
      if (!mayWait(waiter, { now, waitMs: retryInMs })) parts.deny(waiter, { reason, retryInMs });
    }
  }

  function holdOff({ group, key }: Pick<PlannedWant, 'group' | 'key'>, ms: number): void {
    const now = clock.now();
    const until = now + ms;
    if (group.holdOff.size >= KEYS_MAX)
      for (const [old, at] of group.holdOff) if (at <= now) group.holdOff.delete(old);
    group.holdOff.set(key, until);
    if (group.waiters.size > 0) wake(group, until);
  }
}

/** Nothing is granted while another worker reads the host's robots.txt. */
function unsaid(robots: RobotsAdvice): Omit<Denial, 'kind'> {
  return {
    reason: 'host_busy',
    retryInMs: robots.state === 'coming' ? robots.retryInMs : AWAY_RETRY_MS,
  };
}
