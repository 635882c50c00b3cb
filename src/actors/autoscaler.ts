/** Autoscaler: n copies, one leads. The leader alone may change the size of the cluster. */
import { untilAborted, type Actor } from '../runtime/actor.ts';
import type { Lead } from '../runtime/leadership.ts';

export interface AutoscalerPorts {
  readonly lead: Lead;
}

export function createAutoscaler(ports: AutoscalerPorts): Actor {
  return { role: 'autoscaler', run: (stop) => ports.lead(stop.quiet, ({ over }) => untilAborted(over)) };
}
