/** Proxies come, go, and are taken out and brought back by people. */
import type { EgressCaps } from '../../domain/egress.ts';
import { AS_NEW, changeStanding, egressOf, settle } from './pool.ts';
import type { ProxyRecord, ProxyStanding } from './records.ts';
import type { Egress } from './entities.ts';
import type { State } from './state.ts';
import { clearAt, clearSpent, HOUR_MS, isCapped, MINUTE_MS } from './window.ts';

export function enterProxy(state: State, { standing, ...record }: ProxyRecord, now: number): void {
  const egress = egressOf(state, record.id);
  const before = egress.record;
  const wasCapped = isCapped(egress.caps);
  if (before) state.ratePerMs -= ratePerMs(egress.caps);
  egress.record = record;
  egress.caps = record.caps ?? state.limits.proxyCaps;
  state.ratePerMs += ratePerMs(egress.caps);
  state.journal.proxies.add(egress);
  if (!before) enterNew(state, egress, standing, now);
  else if (!wasCapped && isCapped(egress.caps)) restUntilCounted(state, egress, now);
  settle(state, egress, now);
}

function enterNew(state: State, egress: Egress, standing: ProxyStanding | undefined, now: number): void {
  state.registered += 1;
  state.byState[egress.state] += 1;
  egress.since = now;
  egress.standing = standing ?? { ...AS_NEW, since: now };
  awaitFirstProbe(state, egress, now);
  state.journal.events.push({
    kind: 'proxy',
    id: egress.id,
    from: 'none',
    to: egress.state,
    reason: egress.standing.reason,
    at: now,
  });
}

/** With probes on, one that was never tried is tried first; but if nobody tries it, it is not kept out for ever. */
function awaitFirstProbe({ limits, probes }: State, egress: Egress, now: number): void {
  const { probe } = limits;
  if (!probe) return;
  const { health, state } = egress.standing;
  probes.set(egress.probe, health ? health.lastCheck + probe.intervalMs : now);
  if (health || state !== 'available') return;
  egress.standing = {
    ...egress.standing,
    state: 'cooling',
    reason: 'awaits its first probe',
    since: now,
    until: now + 3 * probe.timeoutMs,
  };
}

/** Leases from before it had caps were not counted: until they are over it rests. */
function restUntilCounted(state: State, egress: Egress, now: number): void {
  const until = Math.max(state.journal.openUntil, state.unsureUntil) + state.limits.flightMs;
  if (egress.standing.state !== 'available' || until <= now || egress.leases === 0) return;
  egress.standing = {
    ...egress.standing,
    state: 'cooling',
    reason: 'its caps have changed',
    since: now,
    until,
  };
}

export function dropProxy(state: State, egress: Egress, now: number): void {
  state.journal.events.push({
    kind: 'proxy',
    id: egress.id,
    from: egress.state,
    to: 'removed',
    reason: 'removed by a person',
    at: now,
  });
  state.registered -= 1;
  state.byState[egress.state] -= 1;
  state.ratePerMs -= ratePerMs(egress.caps);
  if (egress.ready) state.ready.remove(egress);
  egress.ready = false;
  egress.record = undefined;
  egress.standing = AS_NEW;
  state.heldBack.delete(egress);
  state.probes.remove(egress.probe);
  state.journal.proxies.add(egress);
  // What was sent through it counts on, should it come back.
  state.waiting.set(egress, Math.max(now + MINUTE_MS, clearAt(egress.meter)));
}

/** One that is gone is forgotten when nothing of it counts any more. */
export function forgetGhost(state: State, egress: Egress, now: number): void {
  if (egress.leases > 0 || egress.meter.held > 0 || clearAt(egress.meter) > now)
    state.waiting.set(egress, now + MINUTE_MS);
  else state.egresses.delete(egress.id);
}

export function freezeProxy(state: State, egress: Egress, reason: string, now: number): void {
  changeStanding(state, egress, { ...calm(egress), state: 'frozen', reason, since: now }, now);
}

/** For longer each time. */
export function disableProxy(state: State, egress: Egress, reason: string, now: number): void {
  const { probe, disabledMs, disabledMaxMs } = state.limits;
  const { times } = egress.standing;
  const until = now + Math.min(disabledMaxMs, disabledMs * 2 ** Math.min(times, 30));
  if (probe) {
    const due = (egress.standing.health?.lastCheck ?? now) + probe.intervalMs;
    state.probes.set(egress.probe, Math.max(now, due));
  }
  egress.troubles = 0;
  changeStanding(
    state,
    egress,
    {
      ...calm(egress),
      state: 'disabled',
      reason,
      since: now,
      times: times + 1,
      // Only a probe knows whether it is well again, where there are probes.
      ...(!probe && { until }),
    },
    now,
  );
}

/** As new, its count at zero: a person answers for it. */
export function resetProxy(state: State, egress: Egress, now: number): void {
  clearSpent(egress.meter);
  state.journal.spent.add(egress);
  egress.failures = 0;
  egress.troubles = 0;
  changeStanding(
    state,
    egress,
    { ...calm(egress), state: 'available', reason: 'reset by a person', since: now, times: 0 },
    now,
  );
}

/** What stays of its standing when its state changes. */
export function calm({ standing }: Egress): Pick<ProxyStanding, 'times' | 'health'> {
  return { times: standing.times, ...(standing.health && { health: standing.health }) };
}

function ratePerMs({ perHour, perMinute }: EgressCaps): number {
  const rate = Math.min(
    perHour > 0 ? perHour / HOUR_MS : Infinity,
    perMinute > 0 ? perMinute / MINUTE_MS : Infinity,
  );
  return rate === Infinity ? 0 : rate;
}
