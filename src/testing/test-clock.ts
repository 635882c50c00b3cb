/**
 * Time for tests: a wait is over as soon as nothing else is left to do, and has still taken as long as it says. So a
 * scraper that keeps a second between two pages is tested in no time, and the second can be seen.
 */
import type { Clock } from '../runtime/clock.ts';

const START_EPOCH = Date.UTC(2026, 0, 1);

export function createTestClock(): Clock {
  const timers = new Set<{ readonly at: number; readonly call: () => void }>();
  let now = 0;
  let planned = false;
  return {
    now: () => now,
    epoch: () => START_EPOCH + now,
    after(ms, call) {
      const timer = { at: now + ms, call };
      timers.add(timer);
      plan();
      return () => void timers.delete(timer);
    },
    soon: (call) => void setImmediate(call),
  };

  /** Two turns of the loop: what was ready before the wait goes first. */
  function plan(): void {
    if (planned) return;
    planned = true;
    setImmediate(() => setImmediate(step));
  }

  function step(): void {
    planned = false;
    const [first] = [...timers].sort((a, b) => a.at - b.at);
    if (!first) return;
    timers.delete(first);
    now = Math.max(now, first.at);
    first.call();
    if (timers.size > 0) plan();
  }
}
