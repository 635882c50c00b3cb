/** Those who wait for the first thing that passes their test. */
export interface Waiters<T> {
  tell(thing: T): void;
  /** The first of the past ones that passes, else the next that is told. */
  until(past: readonly T[], test: (thing: T) => boolean): Promise<T>;
}

export function createWaiters<T>(): Waiters<T> {
  const waiting = new Set<(thing: T) => void>();
  return {
    tell(thing) {
      for (const look of waiting) look(thing);
    },
    until: (past, test) =>
      new Promise((resolve) => {
        const look = (thing: T): void => {
          if (!test(thing)) return;
          waiting.delete(look);
          resolve(thing);
        };
        const found = past.find(test);
        if (found === undefined) waiting.add(look);
        else resolve(found);
      }),
  };
}
