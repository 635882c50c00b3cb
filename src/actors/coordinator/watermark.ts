/**
 * Holds the intake back while the task queue is full enough: what is not yet a task is cheap to pause, cancel and
 * reorder. Between two looks at the queue our own additions are counted, so that it is overrun by one message at most
 * per coordinator. Whoever comes after a pause goes by the old look, if there was room, while a new one is taken: a task
 * that somebody waits for need not wait for that answer too. One such at a time: until a look has succeeded nobody else
 * goes by the old one, and a look that failed is not repeated at once.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Watermark {
  /** Waits for room, or until the signal aborts, and counts the tasks as under way; the answer ends that. */
  enter(tasks: number, signal: AbortSignal): Promise<() => void>;
}

export interface WatermarkOptions {
  readonly size: () => Promise<number>;
  readonly limit: number;
  readonly everyMs: number;
}

export function createWatermark({ size, limit, everyMs }: WatermarkOptions): Watermark {
  let stored = Infinity; // at the last look
  let added = 0; // by us since then
  let underWay = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  /** Somebody was let in by an old look, and no new one has been had since. */
  let trusted = false;
  let line: Promise<unknown> = Promise.resolve();

  return {
    enter(tasks, signal) {
      // One after the other, in the order in which they came: nobody overtakes when room appears.
      const entered = line.then(async () => {
        await untilRoom(signal);
        underWay += tasks;
        return () => {
          underWay -= tasks;
          added += tasks;
        };
      });
      line = entered.catch(() => undefined);
      return entered;
    },
  };

  async function untilRoom(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (performance.now() - lookedAt >= everyMs) {
        if (hasRoom() && !trusted) {
          trusted = true;
          look().catch(() => undefined); // the next one hears of it
          return;
        }
        const restMs = failedAt + everyMs - performance.now();
        if (restMs > 0) {
          await delay(restMs);
          continue;
        }
        await look();
      }
      if (hasRoom()) return;
      await delay(Math.max(1, lookedAt + everyMs - performance.now()));
    }
  }

  function hasRoom(): boolean {
    return stored + added + underWay < limit;
  }

  function look(): Promise<void> {
    looking ??= lookAtQueue().finally(() => (looking = undefined));
    return looking;
  }

  async function lookAtQueue(): Promise<void> {
    const before = added;
    try {
      stored = await size();
      added -= before;
      trusted = false;
      lookedAt = performance.now();
    } catch (error) {
      failedAt = performance.now();
      throw error;
    }
  }
}
