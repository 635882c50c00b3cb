/** So many at once; the others wait in line. */
export interface Slots {
  readonly used: number;
  /** Resolves to the undo, which works once. Rejects when the signal aborts before. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createSlots(max: number): Slots {
  const line: (() => void)[] = [];
  let used = 0;

  return {
    get used() {
      return used;
    },
    async take(signal) {
      signal.throwIfAborted();
      if (used < max) used += 1;
      else await wait(signal);
      let isFree = false;
      return () => {
        if (isFree) return;
        isFree = true;
        // Handed over, so nobody who comes later is first.
        const next = line.shift();
        if (next) next();
        else used -= 1;
      };
    },
  };

  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const mine = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        line.splice(line.indexOf(mine), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      line.push(mine);
    });
  }
}
