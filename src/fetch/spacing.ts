/** How far apart the pages of one attempt are: from the end of one to the beginning of the next. */
import type { Clock } from '../runtime/clock.ts';

export interface Spacing {
  /** Until so long after the last answer, or nothing where that is over. Rejects with what the signal says. */
  wait(delayMs: number): Promise<void> | undefined;
  /** A page has come. */
  answered(): void;
}

export function createSpacing(clock: Clock, signal: AbortSignal): Spacing {
  let answeredAt = -Infinity;
  return {
    wait(delayMs) {
      const leftMs = answeredAt + delayMs - clock.now();
      return leftMs > 0 ? rest(leftMs) : undefined;
    },
    answered: () => void (answeredAt = clock.now()),
  };

  function rest(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        forget();
        reject(signal.reason as Error);
      };
      const forget = clock.after(ms, () => {
        signal.removeEventListener('abort', end);
        resolve();
      });
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
  }
}
