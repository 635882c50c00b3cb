/** How late the event loop ran: a stalled loop misses beats and leases, so it is measured and shown. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  /** Worst stall since the last call, in ms. */
  takeMaxMs(): number;
  /** Worst stall since the start, in ms. */
  maxMs(): number;
  stop(): void;
}

const RESOLUTION_MS = 50;

export function watchLoopDelay(): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let worstMs = 0;
  const take = (): number => {
    // The histogram counts the wait itself; only what came on top of it was a stall.
    const maxMs = Math.max(0, histogram.max / 1e6 - RESOLUTION_MS);
    worstMs = Math.max(worstMs, maxMs);
    return maxMs;
  };
  return {
    takeMaxMs() {
      const maxMs = take();
      histogram.reset();
      return maxMs;
    },
    maxMs() {
      take();
      return worstMs;
    },
    stop: () => void histogram.disable(),
  };
}
