/** Every lease in hand, whether something may still start under it or not, until it is given back or has ended. */
import type { UseOutcome } from '../domain/egress.ts';
import type { Clock } from '../runtime/clock.ts';
import type { RobotsAdvice } from '../wire/egress.ts';
import { isOwned, type LeaseGroup } from './lease-group.ts';
import { isOpen, isScarce, type Lease } from './lease.ts';
import type { Permit, PermitRequest, Used } from './permit.ts';
import { nextStart, seenAfterMs, SENDING_MS } from './pick-lease.ts';
import type { ReportQueue } from './report-queue.ts';

export interface LeaseShelf {
  add(group: LeaseGroup, lease: Lease): void;
  take(group: LeaseGroup, id: string, request: PermitRequest, robots: RobotsAdvice | undefined): Permit;
  letGo(owner: object): void;
  /** It is over, whatever we believe. */
  end(id: string): void;
  /** Nothing more starts under the leases of this group. */
  endGroup(group: LeaseGroup): void;
  renewed(ids: readonly string[], sentAt: number): void;
  /** Gives back what is idle or over, renews what is held. */
  sweep(now: number): void;
  giveBackAll(): void;
  holds(group: LeaseGroup): boolean;
  size(): number;
}

interface ShelfParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly queue: ReportQueue;
  /** Something may start that could not before. */
  readonly onFree: (group: LeaseGroup) => void;
}

/** As long as a worker takes from one task to the next, and a little more. */
const IDLE_MS = 500;
const RENEW_PARTS = 3;
/** After these the manager may want this worker to go another way: nothing more starts before it was asked. */
const GRAVE: ReadonlySet<UseOutcome> = new Set(['throttled', 'blocked', 'proxy']);

interface Held {
  readonly lease: Lease;
  readonly group: LeaseGroup;
}

export function createLeaseShelf({ clock, random, queue, onFree }: ShelfParts): LeaseShelf {
  const all = new Map<string, Held>();
  const owned = new Map<object, Set<Held>>();

  return {
    add(group, lease) {
      all.set(lease.grant.id, { lease, group });
      group.leases.set(lease.grant.id, lease);
    },
    take,
    letGo(owner) {
      const held = owned.get(owner);
      if (!held) return;
      owned.delete(owner);
      for (const { lease, group } of held) {
        lease.owner = undefined;
        onFree(group);
      }
    },
    end(id) {
      const held = all.get(id);
      // Said all the same: what the manager took away counts as held until it comes back or expires.
      if (held) endHeld(held);
    },
    endGroup(group) {
      for (const held of all.values()) if (held.group === group) endHeld(held);
    },
    renewed(ids, sentAt) {
      for (const id of ids) {
        const lease = all.get(id)?.lease;
        if (lease) lease.expiresAt = Math.max(lease.expiresAt, sentAt + lease.grant.validMs);
      }
    },
    sweep(now) {
      for (const held of all.values()) sweepOne(held, now);
    },
    giveBackAll() {
      for (const held of all.values()) giveBack(held);
    },
    holds(group) {
      for (const held of all.values()) if (held.group === group) return true;
      return false;
    },
    size: () => all.size,
  };

  function take(
    group: LeaseGroup,
    id: string,
    request: PermitRequest,
    robots: RobotsAdvice | undefined,
  ): Permit {
    const held = all.get(id);
    if (!held) throw new Error('a lease that is not held cannot be used');
    const [{ lease }, startedAt] = [held, clock.now()];
    lease.permitsLeft -= 1;
    lease.inUse += 1;
    lease.usedAt = startedAt;
    lease.nextStartAt = nextStart(startedAt, lease.grant, random());
    if (isOwned(group)) own(held, request.owner);
    group.leases.delete(id);
    // At the end of the line, so that the next request goes another way if there is one.
    if (lease.permitsLeft > 0) group.leases.set(id, lease);
    let released = false;
    let preparing = false;
    const ready = (): void => {
      if (!preparing) return;
      preparing = lease.preparing = false;
      if (group.waiters.size > 0) onFree(group);
    };
    return {
      kind: 'permit',
      egress: lease.grant.egress,
      address: lease.address,
      control: lease.control,
      session: lease.session,
      robots,
      prepare: () => void (preparing = lease.preparing = lease.grant.spacingMs > 0),
      sent() {
        noteStart(lease);
        ready();
      },
      release(used) {
        if (released) return;
        released = true;
        release(held, startedAt, used);
        ready();
      },
      discard: () => endHeld(held),
    };
  }

  /** A lease that keeps a distance is of use to others from its last start on, however long the pages take. */
  function noteStart(lease: Lease): void {
    lease.started += 1;
    // A browser takes its time from the permit to the wire.
    lease.nextStartAt = Math.max(lease.nextStartAt, nextStart(clock.now(), lease.grant, 0));
    if (lease.grant.spacingMs > 0 && lease.started === lease.grant.permits)
      queue.started({ lease: lease.grant.id, count: lease.started, latestAt: clock.now() + SENDING_MS });
  }

  function own(held: Held, owner: object): void {
    held.lease.owner = owner;
    const mine = owned.get(owner);
    if (mine) mine.add(held);
    else owned.set(owner, new Set([held]));
  }

  function release(held: Held, startedAt: number, used: Used): void {
    const { lease, group } = held;
    const now = clock.now();
    lease.inUse -= 1;
    lease.usedAt = now;
    if (used.outcome === 'unsent') {
      lease.permitsLeft += 1;
      if (!lease.over && all.has(lease.grant.id)) group.leases.set(lease.grant.id, lease);
    } else {
      reportUse(lease, startedAt, used, now);
      if (GRAVE.has(used.outcome)) endHeld(held);
    }
    if (lease.inUse === 0 && (lease.over || lease.permitsLeft <= 0 || now >= lease.expiresAt)) giveBack(held);
    if (group.waiters.size > 0) onFree(group);
  }

  function reportUse(lease: Lease, startedAt: number, used: Used, now: number): void {
    const { outcome, status, retryAfterMs } = used;
    const seenAt = Math.min(now, startedAt + seenAfterMs(used));
    lease.nextStartAt = Math.max(lease.nextStartAt, nextStart(seenAt, lease.grant, 0));
    queue.use(
      {
        lease: lease.grant.id,
        n: lease.sent,
        outcome,
        startedAt: seenAt,
        ms: used.ms ?? now - startedAt,
        ...(status !== undefined && { status }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
      { urgent: GRAVE.has(outcome), alike: outcome === 'ok' && isOpen(lease) },
    );
    lease.sent += 1;
  }

  function endHeld(held: Held): void {
    const { lease, group } = held;
    lease.over = true;
    group.leases.delete(lease.grant.id);
    if (lease.inUse === 0) giveBack(held);
  }

  function giveBack(held: Held): void {
    if (!all.has(held.lease.grant.id)) return;
    drop(held);
    queue.done(held.lease.grant.id);
  }

  function drop(held: Held): void {
    const { lease, group } = held;
    lease.over = true;
    all.delete(lease.grant.id);
    group.leases.delete(lease.grant.id);
    if (lease.owner) owned.get(lease.owner)?.delete(held);
  }

  function sweepOne(held: Held, now: number): void {
    const { lease, group } = held;
    if (now >= lease.expiresAt) group.leases.delete(lease.grant.id);
    const wanted = lease.inUse > 0 || lease.owner !== undefined;
    const idle = group.waiters.size === 0 && now - lease.usedAt >= IDLE_MS;
    if (!wanted && (now >= lease.expiresAt || idle)) giveBack(held);
    else if (isScarce(lease) && !lease.over && now - lease.renewedAt >= lease.grant.validMs / RENEW_PARTS) {
      lease.renewedAt = now;
      queue.renew(lease.grant.id);
    }
  }
}
