/** Waits for something, but no longer than this; what becomes of it afterwards is not told. */
import type { Clock } from './clock.ts';

export function noLongerThan(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    const end = (): void => {
      cancel();
      resolve();
    };
    work.then(end, end);
  });
}
