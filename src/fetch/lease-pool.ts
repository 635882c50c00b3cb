/**
 * The leases of a worker. Requests ask here for permits; most are served from leases in hand with a few look-ups, the
 * others wait while the manager is asked, in one question for all that wait in this turn of the loop.
 *
 *   waiting → permit (sent, then released with its outcome, or given back unsent)
 *           → denied, with the time at which to come again
 *
 * An attempt that has had nothing yet does not wait here for long: its task is put aside instead.
 */
import { Failure } from '../domain/failure.ts';
import { noLongerThan } from '../runtime/no-longer-than.ts';
import type { ReportReply, RobotsAdvice } from '../wire/egress.ts';
import { createClosedHosts } from './closed-hosts.ts';
import { createAsker } from './lease-asker.ts';
import { createGroup, isOwned, pickFor, type LeaseGroup } from './lease-group.ts';
import type { LeasePool, LeasePoolParts } from './lease-ports.ts';
import { createLeaseShelf } from './lease-shelf.ts';
import { mayWait, patienceOf } from './patience.ts';
import type { Denial, Permit, PermitRequest } from './permit.ts';
import { createReportQueue } from './report-queue.ts';
import { waitIn, type Waiter } from './waiter.ts';

const TICK_MS = 100;
const AWAY_RETRY_MS = 5_000;
/** A question and its answer take less long. */
const STARVED_AFTER_MS = 100;
const CLOSE_MAX_MS = 2_000;
const ANSWER_MAX_MS = 500;

export function createLeasePool(parts: LeasePoolParts): LeasePool {
  const { clock } = parts;
  const groups = new Map<string, LeaseGroup>();
  const closedHosts = createClosedHosts(clock);
  const queue = createReportQueue({
    worker: parts.worker,
    clock,
    send: (report) => parts.port.report(report),
    onReply(reply, told) {
      shelf.renewed(told.renewed, told.sentAt);
      hear(reply);
    },
  });
  const shelf = createLeaseShelf({ clock, random: parts.random, queue, onFree: pump });
  const asker = createAsker({ ...parts, queue, shelf, pump, deny });
  const forget = parts.port.onNews(hear);
  let cancelTick: (() => void) | undefined;
  let closing = false;

  return {
    take,
    async acquire(request, signal) {
      if (closing) throw stopped();
      signal.throwIfAborted();
      const closedMs = closedHosts.denyMs(request.host);
      // Of one that has begun the manager says for how long.
      if (closedMs !== undefined && !request.begun)
        return { kind: 'denied', reason: 'host_closed', retryInMs: closedMs };
      const permit = request.fresh ? undefined : take(request);
      return permit ?? wait(groupOf(request), request, signal);
    },
    letGo: (owner) => shelf.letGo(owner),
    tellSession(news) {
      queue.session(news);
    },
    async tellRobots(news) {
      queue.robots(news);
      // The pace that the host asks for counts from the next lease on.
      if (news.crawlDelayMs !== undefined)
        for (const group of groups.values()) if (group.host === news.host) shelf.endGroup(group);
      await noLongerThan(clock, ANSWER_MAX_MS, queue.flush());
    },
    async closedFor(host) {
      await noLongerThan(clock, ANSWER_MAX_MS, queue.flush());
      return queue.isEmpty() ? (closedHosts.leftMs(host) ?? 0) : undefined;
    },
    stats() {
      let waiting = 0;
      const starved = new Set<object>();
      const since = clock.now() - STARVED_AFTER_MS;
      for (const { waiters } of groups.values()) {
        waiting += waiters.size;
        for (const waiter of waiters) if (waiter.since <= since) starved.add(waiter.request.owner);
      }
      return { waiting, starved: starved.size, leases: shelf.size() };
    },
    async close() {
      closing = true;
      forget();
      cancelTick?.();
      for (const group of groups.values()) {
        group.cancelWake?.();
        for (const waiter of [...group.waiters]) waiter.settle(away());
      }
      shelf.giveBackAll();
      await noLongerThan(clock, CLOSE_MAX_MS, queue.flush());
      queue.close();
    },
  };

  function take(request: PermitRequest): Permit | undefined {
    if (closing || closedHosts.leftMs(request.host) !== undefined) return undefined;
    const group = groupOf(request);
    if (group.waiters.size > 0) return undefined;
    const pick = pickFor(group, { request }, clock.now());
    return pick.kind === 'now' ? handOver(group, pick.lease.grant.id, request, undefined) : undefined;
  }

  function groupOf({ scraper, host, policy }: PermitRequest): LeaseGroup {
    planTick();
    const name = `${scraper} ${host} ${policy.key}`;
    let group = groups.get(name);
    if (!group) groups.set(name, (group = createGroup({ name, host, scraper, policy })));
    return group;
  }

  function wait(group: LeaseGroup, request: PermitRequest, signal: AbortSignal): Promise<Permit | Denial> {
    const answer = waitIn(group.waiters, request, { now: clock.now(), signal });
    pump(group);
    return answer;
  }

  /** Serves whom it can, in order; of two that want the same the second is not looked at when the first must wait. */
  function pump(group: LeaseGroup): void {
    const now = clock.now();
    const stuck = new Set<string>();
    for (const waiter of group.waiters) {
      if (waiter.fresh || stuck.has(waiter.key)) continue;
      const pick = pickFor(group, waiter, now);
      if (pick.kind === 'now')
        waiter.settle(handOver(group, pick.lease.grant.id, waiter.request, waiter.robots));
      else if (!isOwned(group)) stuck.add(waiter.key);
      if (pick.kind === 'at') asker.wake(group, pick.atMs);
    }
    if (group.waiters.size > 0) asker.plan(group);
  }

  function handOver(
    group: LeaseGroup,
    id: string,
    request: PermitRequest,
    robots: RobotsAdvice | undefined,
  ): Permit {
    const permit = shelf.take(group, id, request, robots);
    group.meter.count(clock.now());
    if (asker.runsLow(group)) asker.plan(group);
    return permit;
  }

  function deny(waiter: Waiter, { reason, retryInMs }: Omit<Denial, 'kind'>): void {
    waiter.settle({ kind: 'denied', reason, retryInMs });
  }

  function hear({ ended, closed }: ReportReply): void {
    for (const id of ended) shelf.end(id);
    for (const { host, forMs } of closed) {
      closedHosts.close(host, forMs);
      for (const group of groups.values()) {
        if (group.host !== host) continue;
        shelf.endGroup(group);
        for (const waiter of [...group.waiters]) {
          const retryInMs = closedHosts.denyMs(host) ?? forMs;
          if (!waiter.request.begun || !mayWait(waiter, { now: clock.now(), waitMs: retryInMs }))
            deny(waiter, { reason: 'host_closed', retryInMs });
        }
      }
    }
  }

  function planTick(): void {
    if (closing) return;
    cancelTick ??= clock.after(TICK_MS, () => {
      cancelTick = undefined;
      tick();
    });
  }

  /** One sweep over everything, instead of timers for each; none when there is nothing. */
  function tick(): void {
    const now = clock.now();
    shelf.sweep(now);
    for (const [name, group] of groups) {
      for (const waiter of [...group.waiters])
        if (now - waiter.since > patienceOf(waiter.request).silenceMs)
          deny(waiter, asker.lastWord(group) ?? away());
      if (group.waiters.size > 0) pump(group);
      else if (group.leases.size === 0 && group.asking.size === 0 && !shelf.holds(group)) {
        group.cancelWake?.();
        groups.delete(name);
      }
    }
    if (groups.size > 0) planTick();
  }

  function away(): Denial {
    return {
      kind: 'denied',
      reason: 'manager_away',
      retryInMs: AWAY_RETRY_MS * (1 + parts.random()),
    };
  }
}

function stopped(): Failure {
  return new Failure('CANCELLED', 'the worker stops');
}
