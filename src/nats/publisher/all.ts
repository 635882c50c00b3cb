/** Publishes everything that a source yields, no faster than the window allows. */
import type { Outgoing, Publisher, PublishOutcome } from '../publisher.ts';

/** Resolves when the last message has its outcome. Rejects, also not before that, when the source or `onOutcome` throws. */
export async function publishAll<M extends Outgoing>(
  publisher: Publisher,
  source: Iterable<M> | AsyncIterable<M>,
  onOutcome: (message: M, outcome: PublishOutcome) => void,
): Promise<void> {
  const failures: { readonly error: unknown }[] = [];
  let open = 0;
  let whenSettled: (() => void) | undefined;

  try {
    await feed();
  } catch (error) {
    failures.push({ error });
  }
  if (open > 0) await new Promise<void>((resolve) => (whenSettled = resolve));
  const [failure] = failures;
  if (failure) throw failure.error;

  async function feed(): Promise<void> {
    if (Symbol.asyncIterator in source) {
      for await (const message of source) {
        if (failures.length > 0) return;
        await publisher.room();
        send(message);
      }
      return;
    }
    for (const message of source) {
      if (failures.length > 0) return;
      const room = publisher.room(); // awaiting nothing would cost a turn per message
      if (room) await room;
      send(message);
    }
  }

  function send(message: M): void {
    open += 1;
    void publisher.publish(message).then((outcome) => {
      try {
        onOutcome(message, outcome);
      } catch (error) {
        failures.push({ error });
      }
      open -= 1;
      if (open === 0) whenSettled?.();
    });
  }
}
