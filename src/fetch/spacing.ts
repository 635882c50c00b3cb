/** How far apart the pages of one attempt are: from the end of one to the beginning of the next. */
import type { Clock } from '../runtime/clock.ts';

export interface Spacing {
  /** Until so long after the last answer; at once before the first. Throws what the signal says. */
  wait(delayMs: number): Promise<void>;
  /** A page has come. */
  answered(): void;
}

export function createSpacing(clock: Clock, signal: AbortSignal): Spacing {
  let answeredAt = -Infinity;
  return {
    async wait(delayMs) {
      const leftMs = answeredAt + delayMs - clock.now();
      if (leftMs > 0) await rest(leftMs);
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
