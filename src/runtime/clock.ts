/** Time as something that is handed in: what paces, waits and expires is tested without waiting. */
export interface Clock {
  /** Monotonic ms: for what lasts. */
  now(): number;
  /** Wall time in ms: for what others read. */
  epoch(): number;
  /** Calls once after so long; returns the undo. */
  after(ms: number, call: () => void): () => void;
  /** Calls once this turn of the loop is over. */
  soon(call: () => void): void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  epoch: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  soon: (call) => void setImmediate(call),
};
