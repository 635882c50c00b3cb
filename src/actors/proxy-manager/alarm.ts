/** Sleep that ends when somebody rings, or at its time. A ring that nobody waited for ends the next sleep at once. */
export interface Alarm {
  ring(): void;
  /** One sleeper at a time. */
  wait(ms: number): Promise<void>;
}

export function createAlarm(): Alarm {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait(ms) {
      if (!rung && ms > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      rung = false;
    },
  };
}
