/**
 * Looks again and again, but only while there is something to look after: a timer that runs for nothing wakes an idle
 * process for nothing.
 */
export interface Sweeper {
  /** There is something to look after; may be said as often as one likes. */
  arm(): void;
  close(): void;
}

/** `sweep` tells whether something is left. Nobody is kept alive by it. */
export function createSweeper(everyMs: number, sweep: () => boolean): Sweeper {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  return {
    arm() {
      if (timer === undefined && !closed) timer = setTimeout(look, everyMs).unref();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };

  function look(): void {
    // Armed again by whoever comes during the sweep.
    timer = undefined;
    if (sweep() && !closed) timer ??= setTimeout(look, everyMs).unref();
  }
}
