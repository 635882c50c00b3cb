/** Sends each message by itself, one after the other, without waiting for the answers. */
import { createBacklog } from './backlog.ts';
import type { Courier, CourierPorts } from './courier.ts';
import type { Entry } from './entry.ts';
import { createExchange } from './exchange.ts';

export function createSingles(ports: CourierPorts): Courier {
  const { link } = ports;
  const backlog = createBacklog();
  const exchange = createExchange<Entry>({
    ...ports,
    onAnswer: (entry, answer) => ports.judge(entry, answer),
  });
  let pumping = false;

  return {
    submit(entry) {
      // Nobody overtakes: while others wait to be sent, new ones wait behind them.
      if (backlog.length() === 0 && link.isOpen()) post(entry);
      else backlog.push(entry);
    },
    resubmit(entry) {
      backlog.putBack(entry);
      if (pumping) return;
      // Later in this turn, when all that go together are back in order.
      pumping = true;
      queueMicrotask(() => {
        pumping = false;
        pump();
      });
    },
    pump,
    hush: (reason) => exchange.hush(reason),
    close: () => exchange.close(),
  };

  function pump(): void {
    if (link.isOpen()) backlog.takeAll().forEach(post);
  }

  function post(entry: Entry): void {
    const { subject, payload } = entry.message;
    exchange.post({ subject, payload, headerLines: entry.headerLines }, entry);
  }
}
