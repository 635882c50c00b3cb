/**
 * The proxies. Those that may be handed out stand in one list, the least recently used first; the others wait for a
 * time (a window, a rest) or for somebody (what he holds, a person, a probe).
 */
import { DIRECT, type EgressCaps, type ProxyState } from '../../domain/egress.ts';
import type { ProxyStanding } from './records.ts';
import type { Egress } from './entities.ts';
import type { State } from './state.ts';
import { createMeter, freeAt, roomOf } from './window.ts';

export const AS_NEW: ProxyStanding = { state: 'available', reason: 'new', since: 0, times: 0 };
const UNLIMITED: EgressCaps = { perHour: 0, perMinute: 0 };

export function createEgress(id: string, caps: EgressCaps = UNLIMITED): Egress {
  return {
    id,
    record: undefined,
    caps,
    meter: createMeter(),
    usedAt: 0,
    state: 'available',
    reason: 'new',
    since: 0,
    until: undefined,
    standing: AS_NEW,
    failures: 0,
    failedAt: undefined,
    troubles: 0,
    goods: 0,
    score: 1,
    latencyMs: 0,
    leases: 0,
    exclusive: undefined,
    unsureUntil: 0,
    ready: false,
    probe: { id, dueAt: 0, heapAt: -1 },
    hash: hashOf(id),
    dueAt: 0,
    heapAt: -1,
  };
}

/** FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

export function egressOf(state: State, id: string): Egress {
  if (id === DIRECT) return state.direct;
  let egress = state.egresses.get(id);
  if (!egress) state.egresses.set(id, (egress = createEgress(id)));
  return egress;
}

export function changeStanding(state: State, egress: Egress, standing: ProxyStanding, now: number): void {
  egress.standing = standing;
  state.journal.proxies.add(egress);
  settle(state, egress, now);
}

/** It is handed out now; to be followed by `settle`. */
export function markUsed(state: State, egress: Egress, now: number): void {
  if (egress.usedAt === now) return;
  if (egress.ready) state.ready.remove(egress);
  egress.usedAt = now;
  if (egress.ready) state.ready.add(egress);
}

/** Finds out what it is now, and puts it where it belongs. */
export function settle(state: State, egress: Egress, now: number): void {
  if (!egress.record) return;
  const { standing } = egress;
  if (standing.until !== undefined && standing.until <= now && standing.state !== 'available') {
    egress.standing = {
      ...standing,
      state: 'available',
      reason: 'time has passed',
      since: now,
      until: undefined,
    };
    egress.failures = 0;
    state.journal.proxies.add(egress);
  }
  const found = find(egress, now);
  if (found.state !== egress.state) {
    announce(state, egress, found, now);
    state.byState[egress.state] -= 1;
    state.byState[found.state] += 1;
    egress.state = found.state;
    egress.since = now;
  }
  egress.reason = found.reason;
  egress.until = found.until;
  place(state, egress, found);
}

interface Found {
  readonly state: ProxyState;
  readonly reason: string;
  readonly until: number | undefined;
}

function find(egress: Egress, now: number): Found {
  const { standing } = egress;
  if (standing.state !== 'available')
    return { state: standing.state, reason: standing.reason, until: standing.until };
  if (egress.exclusive)
    return { state: 'leased', reason: `held by ${egress.exclusive.worker}`, until: egress.exclusive.dueAt };
  if (roomOf(egress.meter, egress.caps, now) < 1) {
    const at = freeAt(egress.meter, egress.caps, now);
    return { state: 'rate_limited', reason: 'budget used up', until: at === Infinity ? undefined : at };
  }
  return { state: 'available', reason: standing.reason, until: undefined };
}

function place(state: State, egress: Egress, found: Found): void {
  const ready = found.state === 'available';
  if (ready && !egress.ready) {
    state.ready.add(egress);
    state.poolVersion += 1;
  } else if (!ready && egress.ready) state.ready.remove(egress);
  egress.ready = ready;
  const held = found.state === 'leased' || (found.state === 'rate_limited' && egress.meter.held > 0);
  if (held) state.heldBack.add(egress);
  else state.heldBack.delete(egress);
  if (found.state !== 'leased' && found.until !== undefined) state.waiting.set(egress, found.until);
  else state.waiting.remove(egress);
}

function announce(state: State, egress: Egress, found: Found, now: number): void {
  state.journal.events.push({
    kind: 'proxy',
    id: egress.id,
    from: egress.state,
    to: found.state,
    reason: found.reason,
    at: now,
    ...(found.until !== undefined && { until: found.until }),
  });
}
