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
/**
 * A loop that has had next to nothing to do for a while holds nobody up, and is looked at this often. What happens
 * between two looks would be over before the next one: the end of every turn that something else has caused is watched.
 */
const CALM_INTERVAL_MS = 2_000;
const CALM_UTILIZATION = 0.1;
const CALM_LOOKS = 10;

export function watchLoopDelay(): LoopDelay {
  let last = performance.now();
  let worstMs = 0;
  const tallies: Tally[] = [];
  let intervalMs = INTERVAL_MS;
  let calmLooks = 0;
  let utilization = performance.eventLoopUtilization();
  let activeMs = 0;
  let longestTurnMs = 0;
  let turn: NodeJS.Immediate | undefined;
  /** Nobody is woken by it: an immediate that is no reason to go on waits for one. */
  const watchTurns = (): void => {
    const { active } = performance.eventLoopUtilization();
    longestTurnMs = Math.max(longestTurnMs, active - activeMs);
    activeMs = active;
    turn = setImmediate(watchTurns).unref();
  };
  const look = (): void => {
    const now = performance.now();
    const lateMs = Math.max(0, now - last - intervalMs, longestTurnMs);
    longestTurnMs = 0;
    worstMs = Math.max(worstMs, lateMs);
    last = now;
    for (const tally of tallies) {
      tally.maxMs = Math.max(tally.maxMs, lateMs);
      tally.sumMs += lateMs;
      tally.looks += 1;
    }
    const before = utilization;
    utilization = performance.eventLoopUtilization();
    const isCalm = performance.eventLoopUtilization(utilization, before).utilization < CALM_UTILIZATION;
    calmLooks = isCalm ? calmLooks + 1 : 0;
    intervalMs = calmLooks >= CALM_LOOKS ? CALM_INTERVAL_MS : INTERVAL_MS;
    if (intervalMs === INTERVAL_MS) {
      clearImmediate(turn);
      turn = undefined;
    } else if (turn === undefined) {
      activeMs = utilization.active;
      turn = setImmediate(watchTurns).unref();
    }
    timer = setTimeout(look, intervalMs).unref();
  };
  let timer = setTimeout(look, intervalMs).unref();
  return { ...openReader(), maxMs: () => worstMs, openReader, stop };

  function stop(): void {
    clearTimeout(timer);
    clearImmediate(turn);
  }

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
