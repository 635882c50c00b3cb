/** A gate that an actor passes before it takes work: closed while the actor is paused. */
export interface Gate {
  isOpen(): boolean;
  close(): void;
  open(): void;
  /** Calls back each time it is opened; returns the undo. */
  onOpen(listener: () => void): () => void;
  /** Resolves when the gate is open, or when the signal aborts. */
  passage(signal: AbortSignal): Promise<void>;
}

export function createGate(): Gate {
  let open = true;
  const waiting = new Set<() => void>();
  return {
    isOpen: () => open,
    close: () => void (open = false),
    open() {
      open = true;
      for (const go of [...waiting]) go();
    },
    onOpen(listener) {
      waiting.add(listener);
      return () => void waiting.delete(listener);
    },
    passage(signal) {
      if (open || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const go = (): void => {
          waiting.delete(go);
          signal.removeEventListener('abort', go);
          resolve();
        };
        waiting.add(go);
        signal.addEventListener('abort', go, { once: true });
      });
    },
  };
}
