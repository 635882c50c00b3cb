/** Rest between two looks, which ends early when somebody says so. */
export interface Rest {
  /** Resolves after this time, when it is ended, or when the signal has aborted; at once if it was ended since the last. */
  take(ms: number): Promise<void>;
  end(): void;
}

export function createRest(over: AbortSignal): Rest {
  let ended = false;
  let wake = (): void => undefined;
  return {
    async take(ms) {
      if (!ended && !over.aborted)
        await new Promise<void>((resolve) => {
          wake = () => {
            clearTimeout(timer);
            over.removeEventListener('abort', wake);
            resolve();
          };
          const timer = setTimeout(wake, ms);
          over.addEventListener('abort', wake, { once: true });
        });
      ended = false;
    },
    end() {
      ended = true;
      wake();
    },
  };
}
