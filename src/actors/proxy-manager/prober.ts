/**
 * Health probes: those that the book wants, a bounded number at once. Their starts are spread, so that thousands of
 * proxies that are due together (at the start of a term) are asked over half an interval; later ones keep that spread.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Counter, ProxyManagerPorts } from './ports.ts';

export interface ProberLimits {
  readonly intervalMs: number;
  readonly concurrency: number;
}

/** Few are asked at once, each a moment after the other. */
const GAP_MAX_MS = 20;

export interface Prober {
  /** Asks the book who is due. */
  look(): void;
  /** Ends when the term does and the last probe is over. */
  run(over: AbortSignal): Promise<void>;
}

export function createProber({
  counter,
  probe,
  limits,
}: {
  counter: Counter;
  probe: NonNullable<ProxyManagerPorts['probe']>;
  limits: ProberLimits;
}): Prober {
  const due = new Set<string>();
  const underWay = new Map<string, Promise<void>>();
  let wake = (): void => undefined;

  return {
    look() {
      // The book names one again whose probe takes longer than it should: it is in hand all the same.
      for (const id of counter.look((book, now) => book.duesForProbe(now)))
        if (!underWay.has(id)) due.add(id);
      if (due.size > 0) wake();
    },
    async run(over) {
      const stop = (): void => wake();
      over.addEventListener('abort', stop);
      while (!over.aborted) {
        if (due.size === 0 || underWay.size >= limits.concurrency) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        const gapMs = Math.min(GAP_MAX_MS, limits.intervalMs / 2 / due.size);
        const [id] = due;
        if (id !== undefined) begin(id, over);
        await delay(gapMs, undefined, { signal: over }).catch(() => undefined);
      }
      over.removeEventListener('abort', stop);
      await Promise.all(underWay.values());
    },
  };

  function begin(id: string, over: AbortSignal): void {
    due.delete(id);
    const work = probeOne(id, over).finally(() => {
      underWay.delete(id);
      wake();
    });
    underWay.set(id, work);
  }

  async function probeOne(id: string, over: AbortSignal): Promise<void> {
    const proxy = counter.look((book) => book.proxyRecord(id));
    if (!proxy) return;
    const health = await probe(proxy, over);
    // A probe that the end of the term cut short says nothing about its proxy; nor is there anybody left to tell.
    if (!over.aborted)
      await counter.change((book, now) => book.probed(id, health, now)).catch(() => undefined);
  }
}
