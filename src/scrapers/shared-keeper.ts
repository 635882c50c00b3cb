/** What scrapers set up once per worker, and take down when it ends. */
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import type { Scraper } from './scraper.ts';

export interface SharedKeeper {
  /** Sets up at the first call; one that failed is tried again by the next task. */
  of(scraper: Scraper): Promise<unknown>;
  /** Takes everything down, once; never rejects. Nothing is set up afterwards. */
  close(): Promise<void>;
}

/** A client that does not close must not keep a worker from ending. */
const TEARDOWN_MAX_MS = 5_000;

export function createSharedKeeper(log: Log): SharedKeeper {
  const kept = new Map<Scraper, Promise<unknown>>();
  let closing: Promise<void> | undefined;
  return {
    of(scraper) {
      let shared = kept.get(scraper);
      if (!shared) {
        shared = setUp(scraper);
        kept.set(scraper, shared);
        shared.catch(() => kept.delete(scraper));
      }
      return shared;
    },
    close: () => (closing ??= closeAll()),
  };

  async function setUp(scraper: Scraper): Promise<unknown> {
    if (closing) throw new Error('the worker ends');
    return scraper.setup?.({ log: log.child({ scraper: scraper.name }) });
  }

  async function closeAll(): Promise<void> {
    await Promise.all([...kept].map(([scraper, shared]) => takeDown(scraper, shared)));
  }

  async function takeDown(scraper: Scraper, shared: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not done within ${TEARDOWN_MAX_MS} ms`)), TEARDOWN_MAX_MS);
    });
    try {
      const ready = shared.then((value) => scraper.teardown?.(value));
      await Promise.race([ready, limit]);
    } catch (error) {
      log.warn('scraper.teardown-failed', { scraper: scraper.name, reason: messageOf(error) });
    } finally {
      clearTimeout(timer);
    }
  }
}
