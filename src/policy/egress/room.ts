/** How much a host has room for now, altogether and through one egress; if for nothing, why and until when. */
import type { EgressCaps, NoEgressReason } from '../../domain/egress.ts';
import type { Want } from '../../wire/egress.ts';
import { isClosed } from './closures.ts';
import { looseUntil } from './hosts.ts';
import { turnOf, type Turn } from './pacing.ts';
import { slotsFor } from './shares.ts';
import type { Egress, Host } from './entities.ts';
import type { State } from './state.ts';
import { freeAt, isCapped, roomOf, type Meter } from './window.ts';

export interface NoRoom {
  readonly kind: 'none';
  readonly reason: NoEgressReason;
  /** The earliest that asking again makes sense. */
  readonly at: number;
}

export interface Room {
  readonly kind: 'room';
  readonly permits: number; // Infinity: no cap
  readonly slots: number | null; // null: no limit
  readonly startAt: number;
}

/** What somebody holds may come back at any time; then it is worth asking again. */
export const SOON_MS = 2_000;
/** A host that a person closed is asked for again after this. */
const FAR_MS = 300_000;

export function roomAt(
  state: State,
  host: Host,
  { worker, want, now }: { readonly worker: string; readonly want: Want; readonly now: number },
): Room | NoRoom {
  if (isClosed(host, now)) return none('host_closed', host.closure?.until ?? now + FAR_MS);
  const loose = looseUntil(host, now);
  if (loose > now) return none('host_busy', Math.min(loose, now + SOON_MS));
  const { limits } = host;
  const turn = turnOf(host, limits.delayMs, now);
  const turnAt = turnTime(turn, host.pacer, now);
  if (turn.kind === 'busy' || turnAt > now + state.limits.aheadMs) return none('host_busy', turnAt);
  const permits = host.meter ? roomOf(host.meter, limits, now) : Infinity;
  if (host.meter && permits < 1) return none('host_busy', freeOrSoon(host.meter, limits, now));
  const slots = slotsFor(host, worker, want, now);
  if (slots === 0) return none('host_busy', soonestEnd(host, now));
  return { kind: 'room', permits, slots, startAt: turnAt };
}

function none(reason: NoEgressReason, at: number): NoRoom {
  return { kind: 'none', reason, at };
}

/** When a turn can begin: after the last request that the present holder may start if it keeps to its distance. */
function turnTime(turn: Turn, pacer: Host['pacer'], now: number): number {
  if (turn.kind === 'free') return turn.startAt;
  if (!pacer) return turn.until;
  const planned = pacer.startAt + (pacer.permits ?? 1) * pacer.spacingMs;
  return Math.min(turn.until, Math.max(now + 1, planned));
}

function soonestEnd(host: Host, now: number): number {
  let at = now + SOON_MS;
  for (const lease of host.leases) at = Math.min(at, lease.dueAt);
  return Math.max(now + 1, at);
}

export function freeOrSoon(meter: Meter, caps: EgressCaps, now: number): number {
  const at = freeAt(meter, caps, now);
  return meter.held > 0 ? Math.min(at, now + SOON_MS) : at;
}

export interface PairRoom {
  readonly permits: number;
  readonly startAt: number;
  /** Later than now: not before. */
  readonly fitAt: number;
  readonly isLimited: boolean;
}

const FREE: PairRoom = { permits: Infinity, startAt: 0, fitAt: 0, isLimited: false };

function capOf({ perHour, perMinute }: EgressCaps): number {
  return Math.min(perHour || Infinity, perMinute || Infinity);
}

export function pairRoomAt(state: State, host: Host, egress: Egress, now: number): PairRoom {
  const pair = host.pairs.get(egress.id);
  if (!pair)
    return isCapped(host.limits.egressCaps) ? { ...FREE, permits: capOf(host.limits.egressCaps) } : FREE;
  if (isClosed(pair, now)) return { ...FREE, fitAt: pair.closure?.until ?? now + FAR_MS };
  const { egressCaps, egressDelayMs } = host.limits;
  const permits = pair.meter ? roomOf(pair.meter, egressCaps, now) : capOf(egressCaps);
  if (pair.meter && permits < 1)
    return { permits, startAt: now, fitAt: freeOrSoon(pair.meter, egressCaps, now), isLimited: true };
  const turn = turnOf(pair, egressDelayMs, now);
  const startAt = turnTime(turn, pair.pacer, now);
  const tooEarly = turn.kind === 'busy' || startAt > now + state.limits.aheadMs;
  return { permits, startAt, fitAt: tooEarly ? startAt : 0, isLimited: tooEarly };
}
