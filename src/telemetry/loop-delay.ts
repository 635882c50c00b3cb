/**
 * How late the event loop ran: a stalled loop misses beats and leases, so it is measured and shown.
 * A timer of our own tells it: Node's histogram forgets the moment of its last sample when it is reset, and with it a
 * stall that begins right after.
 */
export interface LoopDelay extends LoopReader {
  /** Worst stall since the start, in ms. */
  maxMs(): number;
  /** For one more who asks: what one has taken, the others still get. */
  openReader(): LoopReader;
  stop(): void;
}

export interface LoopReader {
  /** Worst stall since the last call, in ms. */
  takeMaxMs(): number;
  /** Mean delay since the last call, in ms; a stall counts once, like the many times without one. */
  takeMeanMs(): number;
}

interface Tally {
  maxMs: number;
  sumMs: number;
  looks: number;
}

/** Each look wakes the process: five times a second cost an idle one 0.07 % of a core, twenty times three times that. */
const INTERVAL_MS = 200;

export function watchLoopDelay(): LoopDelay {
  let last = performance.now();
  let worstMs = 0;
  const tallies: Tally[] = [];
  const look = (): void => {
    const now = performance.now();
    const lateMs = Math.max(0, now - last - INTERVAL_MS);
    worstMs = Math.max(worstMs, lateMs);
    last = now;
    for (const tally of tallies) {
      tally.maxMs = Math.max(tally.maxMs, lateMs);
      tally.sumMs += lateMs;
      tally.looks += 1;
    }
  };
  const timer = setInterval(look, INTERVAL_MS).unref();
  return { ...openReader(), maxMs: () => worstMs, openReader, stop: () => clearInterval(timer) };

  function openReader(): LoopReader {
    const tally: Tally = { maxMs: 0, sumMs: 0, looks: 0 };
    tallies.push(tally);
    return {
      takeMaxMs() {
        const { maxMs } = tally;
        tally.maxMs = 0;
        return maxMs;
      },
      takeMeanMs() {
        const { sumMs, looks } = tally;
        tally.sumMs = 0;
        tally.looks = 0;
        return looks === 0 ? 0 : sumMs / looks;
      },
    };
  }
}
