/**
 * Hosts that asked for rest, as far as this worker has heard. Who comes meanwhile is sent away without a question to the
 * manager, each a little later than the one before: they would all be back in the same instant otherwise.
 */
import type { Clock } from '../runtime/clock.ts';

export interface ClosedHosts {
  close(host: string, forMs: number): void;
  leftMs(host: string): number | undefined;
  /** When somebody who is sent away now shall come again; undefined: the host is open. */
  denyMs(host: string): number | undefined;
}

const STEP_MS = 50;
const SPREAD_MAX_MS = 300_000;
const HOSTS_MAX = 10_000;

export function createClosedHosts(clock: Clock): ClosedHosts {
  const closed = new Map<string, { until: number; denied: number }>();
  return {
    close(host, forMs) {
      if (forMs <= 0) {
        closed.delete(host);
        return;
      }
      const denied = closed.get(host)?.denied ?? 0;
      closed.delete(host);
      closed.set(host, { until: clock.now() + forMs, denied });
      const [oldest] = closed.keys();
      // A host that is forgotten is asked about at the manager.
      if (closed.size > HOSTS_MAX && oldest !== undefined) closed.delete(oldest);
    },
    leftMs,
    denyMs(host) {
      const leftForMs = leftMs(host);
      const record = closed.get(host);
      if (leftForMs === undefined || !record) return undefined;
      record.denied += 1;
      return leftForMs + Math.min(SPREAD_MAX_MS, (record.denied - 1) * STEP_MS);
    },
  };

  function leftMs(host: string): number | undefined {
    const record = closed.get(host);
    if (!record) return undefined;
    const left = record.until - clock.now();
    if (left > 0) return left;
    closed.delete(host);
    return undefined;
  }
}
