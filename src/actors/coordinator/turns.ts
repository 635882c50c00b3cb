/**
 * Turns at a bounded amount of work, first come, first served. Whoever asks for one turn at a time gets them in
 * rotation with the others, so no run starves another however much it has to bring.
 */
export interface Turns {
  /** Waits for its turn; the answer gives it back. A turn larger than all there is waits for everything. */
  take(size: number): Promise<() => void>;
  /** Resolves when no turn is taken. */
  idle(): Promise<void>;
}

export function createTurns(budget: number): Turns {
  let left = budget;
  const waiting: { readonly size: number; readonly start: () => void }[] = [];
  let whenIdle: (() => void)[] = [];

  return {
    take(size) {
      const cost = Math.min(Math.max(size, 1), budget);
      return new Promise((resolve) => {
        waiting.push({ size: cost, start: () => resolve(createReturn(cost)) });
        serve();
      });
    },
    idle: () => (left === budget ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve))),
  };

  function serve(): void {
    for (let next = waiting[0]; next && next.size <= left; next = waiting[0]) {
      waiting.shift();
      left -= next.size;
      next.start();
    }
  }

  function createReturn(cost: number): () => void {
    let returned = false;
    return () => {
      if (returned) return;
      returned = true;
      left += cost;
      serve();
      if (left < budget) return;
      for (const tell of whenIdle) tell();
      whenIdle = [];
    };
  }
}
