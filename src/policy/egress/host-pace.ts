/** A host that told us to slow down is asked more slowly, and faster again after each row of good answers. */
import type { Host, Pair } from './entities.ts';
import { refreshLimits } from './hosts.ts';
import type { State } from './state.ts';

const SLOW_MS = 1_000;
const SLOW_MAX_MS = 60_000;
const GOODS = 20;

export function slowDown(state: State, host: Host, now: number): void {
  host.goods = 0;
  const first = Math.max(SLOW_MS, host.limits.delayMs);
  host.adaptiveDelayMs = Math.min(SLOW_MAX_MS, host.adaptiveDelayMs > 0 ? host.adaptiveDelayMs * 2 : first);
  tellPace(state, host, 'slower', now);
}

/** A good answer; after a row of them the host is asked faster. */
export function noteGood(state: State, host: Host, pair: Pair | undefined, now: number): void {
  if (pair && pair.times > 0 && !pair.shut) {
    pair.times = 0;
    pair.closure = undefined;
    state.journal.pairs.add(pair);
  }
  if (host.throttles === 0 && host.blocks === 0 && host.adaptiveDelayMs === 0) return;
  host.goods += 1;
  if (host.goods < GOODS) return;
  host.goods = 0;
  host.throttles = Math.max(0, host.throttles - 1);
  host.blocks = 0;
  state.journal.hosts.add(host);
  if (host.adaptiveDelayMs === 0) return;
  const half = Math.round(host.adaptiveDelayMs / 2);
  host.adaptiveDelayMs = half < SLOW_MS ? 0 : half;
  tellPace(state, host, 'faster', now);
}

function tellPace(state: State, host: Host, to: 'slower' | 'faster', now: number): void {
  state.journal.hosts.add(host);
  refreshLimits(state, host, now);
  const { delayMs } = host.limits;
  state.journal.events.push({ kind: 'host', host: host.name, to, reason: 'throttled', at: now, delayMs });
}
