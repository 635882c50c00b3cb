/** A publisher that sends together whatever is published in one turn of the loop; otherwise like the one that it uses. */
import type { Outgoing, Publisher, PublishOutcome } from '../../src/nats/publisher.ts';

interface Waiting {
  readonly message: Outgoing;
  readonly resolve: (outcome: PublishOutcome) => void;
}

/** Fewer than the window of most tests has room for. */
const TOGETHER_MAX = 200;

export function together(publisher: Publisher): Publisher {
  let waiting: Waiting[] = [];
  return {
    ...publisher,
    publish: (message) =>
      new Promise((resolve) => {
        waiting.push({ message, resolve });
        if (waiting.length === 1) queueMicrotask(send);
        else if (waiting.length === TOGETHER_MAX) send();
      }),
  };

  function send(): void {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    void publisher.publishMany(group.map(({ message }) => message)).then((outcomes) => {
      for (const [at, { resolve }] of group.entries())
        resolve(outcomes[at] ?? { kind: 'unknown', reason: 'it has no outcome' });
    });
  }
}
