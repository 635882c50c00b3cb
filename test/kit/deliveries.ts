/** Deliveries made by hand, and a settler that only notes. */
import type { Delivery } from '../../src/actors/worker/ports.ts';
import type { Settler } from '../../src/actors/worker/settling.ts';
import type { Priority } from '../../src/domain/task.ts';

export function makeDelivery(
  key: string,
  options: { priority?: Priority; deliveries?: number; scraper?: string; run?: string } = {},
): Delivery {
  const { priority = 5, deliveries = 1, scraper = 'test', run = 'r' } = options;
  const now = performance.now();
  return {
    task: {
      spec: { id: key, run, scraper, key, priority, createdAt: Date.now() },
      acceptSeq: 1,
      faults: [],
      triedProxies: [],
      deferrals: 0,
    },
    lane: priority,
    deliveries,
    reply: `reply.${key}`,
    receivedAt: now,
    leasedAt: now,
  };
}

export function createNotingSettler(): Settler & { readonly notes: string[] } {
  const notes: string[] = [];
  const note = async (what: string, { task }: Delivery): Promise<void> =>
    void notes.push(`${what} ${task.spec.id}`);
  return {
    notes,
    attempt: ({ delivery, outcome }) => note(outcome.kind, delivery),
    bury: (delivery, { code }) => note(code, delivery),
    cancel: (delivery) => note('cancel', delivery),
    postpone: (delivery) => note('postpone', delivery),
    giveBack: (delivery) => void note('give-back', delivery),
    giveBackAnew: (delivery) => note('give-back-anew', delivery),
  };
}
