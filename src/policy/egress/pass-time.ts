/** What happens by time alone. Cheap when nothing is due, so it is done before every answer. */
import { openDue } from './closures.ts';
import { forgetSome, wakeHost } from './host-sweep.ts';
import { endLease } from './leases.ts';
import { settle } from './pool.ts';
import { forgetGhost } from './proxies.ts';
import { wakeSession } from './sessions.ts';
import type { State } from './state.ts';

export function passTime(state: State, now: number): void {
  const { leasesDue, waiting, hostsDue, sessionsDue } = state;
  for (let lease = leasesDue.takeDue(now); lease; lease = leasesDue.takeDue(now))
    endLease(state, lease, 'expired', now);
  for (let egress = waiting.takeDue(now); egress; egress = waiting.takeDue(now))
    if (egress.record) settle(state, egress, now);
    else forgetGhost(state, egress, now);
  for (let host = hostsDue.takeDue(now); host; host = hostsDue.takeDue(now)) {
    openDue(state, host, now);
    wakeHost(state, host, now);
  }
  forgetSome(state, now);
  for (let identity = sessionsDue.takeDue(now); identity; identity = sessionsDue.takeDue(now))
    wakeSession(state, identity, now);
}

export function nextDue(state: State): number | undefined {
  const times = [state.leasesDue, state.waiting, state.hostsDue, state.sessionsDue, state.probes]
    .map((heap) => heap.first()?.dueAt)
    .filter((at) => at !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
