/** Proxy-manager: n copies, one leads. The leader alone owns the `egress` bucket. */
import { untilAborted, type Actor } from '../runtime/actor.ts';
import type { Lead } from '../runtime/leadership.ts';

export interface ProxyManagerPorts {
  readonly lead: Lead;
}

export function createProxyManager(ports: ProxyManagerPorts): Actor {
  return { role: 'proxy-manager', run: (stop) => ports.lead(stop.quiet, ({ over }) => untilAborted(over)) };
}
