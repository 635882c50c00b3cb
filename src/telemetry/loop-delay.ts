/**
 * How late the event loop ran: a stalled loop misses beats and leases, so it is measured and shown.
 * A timer of our own tells it: Node's histogram forgets the moment of its last sample when it is reset, and with it a
 * stall that begins right after.
 */
export interface LoopDelay {
  /** Worst stall since the last call, in ms. */
  takeMaxMs(): number;
  /** Worst stall since the start, in ms. */
  maxMs(): number;
  stop(): void;
}

const INTERVAL_MS = 50;

export function watchLoopDelay(): LoopDelay {
  let last = performance.now();
  let recentMs = 0;
  let worstMs = 0;
  const look = (): void => {
    const now = performance.now();
    recentMs = Math.max(recentMs, now - last - INTERVAL_MS);
    worstMs = Math.max(worstMs, recentMs);
    last = now;
  };
  const timer = setInterval(look, INTERVAL_MS).unref();
  return {
    takeMaxMs() {
      const takenMs = recentMs;
      recentMs = 0;
      return takenMs;
    },
    maxMs: () => worstMs,
    stop: () => clearInterval(timer),
  };
}
