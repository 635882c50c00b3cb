/**
 * How proxies do. Failures of its own, in a row, disable a proxy; what the target does wrong never does. Trouble on the
 * way that may be anybody's makes it rest. With probes on, a disabled one comes back when a probe passes.
 */
import type { UseOutcome } from '../../domain/egress.ts';
import { changeStanding } from './pool.ts';
import { calm, disableProxy } from './proxies.ts';
import type { ProbeResult } from './records.ts';
import { isSilent, noteAnswer, noteFault, noteSilence } from './blame.ts';
import type { Egress, Host } from './entities.ts';
import type { State } from './state.ts';

const TROUBLES = 10;
const COOL_MS = 60_000;
const GOODS = 20;
const WEIGHT_OF_NEW = 0.1;

export interface UseFacts {
  readonly outcome: UseOutcome;
  readonly ms: number;
  readonly startedAt: number;
  /** Of the answer; of a fault of a proxy: what it answered instead of opening the way. */
  readonly status?: number | undefined;
}

export function noteUse(
  state: State,
  host: Host,
  egress: Egress,
  { outcome, ms, startedAt, status }: UseFacts,
  now: number,
): void {
  const pair = host.pairs.get(egress.id);
  const bad = outcome === 'proxy' || outcome === 'network' || outcome === 'timeout';
  const refused = outcome === 'blocked' || outcome === 'throttled';
  egress.score = mix(egress.score, bad ? 0 : 1);
  if (pair) pair.score = mix(pair.score, bad || refused ? 0 : 1);
  if (outcome === 'ok') {
    egress.latencyMs = egress.latencyMs === 0 ? ms : mix(egress.latencyMs, ms);
    if (pair) pair.latencyMs = pair.latencyMs === 0 ? ms : mix(pair.latencyMs, ms);
  }
  if (bad) noteSilence(host, egress);
  else noteAnswer(host);
  if (!egress.record) return;
  if (outcome === 'proxy')
    noteFault(state, host, egress, { startedAt, blamesTarget: isGatewayError(status) }, now);
  else if (!bad) noteGood(state, egress);
  else if (!isSilent(host)) noteTrouble(state, egress, now);
}

/** It answers, and says that the way ends behind it. */
function isGatewayError(status: number | undefined): boolean {
  return status !== undefined && status >= 500;
}

function mix(old: number, value: number): number {
  return old + (value - old) * WEIGHT_OF_NEW;
}

function noteTrouble(state: State, egress: Egress, now: number): void {
  egress.troubles += 1;
  if (egress.troubles < TROUBLES || egress.standing.state !== 'available') return;
  egress.troubles = 0;
  changeStanding(
    state,
    egress,
    {
      ...calm(egress),
      state: 'cooling',
      reason: `no way through ${TROUBLES} times in a row`,
      since: now,
      until: now + COOL_MS,
    },
    now,
  );
}

function noteGood(state: State, egress: Egress): void {
  egress.failures = 0;
  egress.troubles = 0;
  egress.goods += 1;
  if (egress.goods < GOODS || egress.standing.times === 0) return;
  egress.standing = { ...egress.standing, times: 0 };
  state.journal.proxies.add(egress);
}

/** Each is named once; whoever does not answer for a probe in time is asked again at the next interval. */
export function takeProbes(state: State, now: number): string[] {
  const { probe } = state.limits;
  const due: string[] = [];
  if (!probe) return due;
  for (let next = state.probes.takeDue(now); next; next = state.probes.takeDue(now)) {
    state.probes.set(next, now + probe.intervalMs);
    if (state.egresses.get(next.id)?.standing.state !== 'frozen') due.push(next.id);
  }
  return due;
}

export function noteProbe(state: State, egress: Egress, health: ProbeResult, now: number): void {
  const { standing } = egress;
  if (state.limits.probe) state.probes.set(egress.probe, now + state.limits.probe.intervalMs);
  egress.standing = { ...standing, health };
  state.journal.proxies.add(egress);
  if (standing.state === 'frozen') return;
  if (!health.isHealthy) {
    // From now on it is disabled for this, whatever it was before.
    egress.failures = 0;
    if (standing.state !== 'disabled') disableProxy(state, egress, 'its probe failed', now);
    return;
  }
  if (standing.state === 'available') return;
  egress.failures = 0;
  egress.troubles = 0;
  const passed = { ...calm(egress), state: 'available' as const, reason: 'its probe passed', since: now };
  changeStanding(state, egress, passed, now);
}
