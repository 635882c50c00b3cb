/** Tells the server that a message is still being worked on, for as long as it is, so that nobody else gets it. */
export interface InProgress {
  /** From now on; the answer ends it. */
  hold(message: { working(): void }): () => void;
  /** No message is held any more. */
  close(): void;
}

/** One timer for all messages: each is told about once in every interval. */
export function createInProgress(everyMs: number): InProgress {
  const held = new Set<{ working(): void }>();
  const timer = setInterval(() => {
    for (const message of held) message.working();
  }, everyMs);
  timer.unref();
  return {
    hold(message) {
      held.add(message);
      return () => void held.delete(message);
    },
    close() {
      clearInterval(timer);
      held.clear();
    },
  };
}
