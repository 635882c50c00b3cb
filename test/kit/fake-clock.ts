/** Time that passes when the test says so. */
import type { Clock } from '../../src/runtime/clock.ts';

export interface FakeClock extends Clock {
  /** Lets so much time pass, with everything that is due in it, in order. */
  pass(ms: number): Promise<void>;
}

const START_EPOCH = Date.UTC(2026, 0, 1);

export function createFakeClock(): FakeClock {
  let now = 1_000;
  let count = 0;
  const timers = new Map<number, { at: number; call: () => void }>();
  const clock: FakeClock = {
    now: () => now,
    epoch: () => START_EPOCH + now,
    after(ms, call) {
      const id = (count += 1);
      timers.set(id, { at: now + ms, call });
      return () => timers.delete(id);
    },
    soon: (call) => void clock.after(0, call),
    async pass(ms) {
      const until = now + ms;
      for (;;) {
        await settle();
        const due = [...timers].filter(([, { at }]) => at <= until).sort(byTime)[0];
        if (!due) break;
        timers.delete(due[0]);
        now = Math.max(now, due[1].at);
        due[1].call();
      }
      now = until;
      await settle();
    },
  };
  return clock;
}

type Timer = readonly [number, { readonly at: number }];

function byTime([idA, a]: Timer, [idB, b]: Timer): number {
  return a.at - b.at || idA - idB;
}

/** Promises that hang on each other take a few turns. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}
