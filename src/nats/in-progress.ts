/**
 * Messages that the server has lent us: it is told that they are still being worked on, for as long as they are, so
 * that nobody else gets them. One about which nothing could be said for nearly the length of its lease may be somebody
 * else's by now (this process slept, or its connection was gone), and then not a word about it is said any more.
 */
import { mayHaveLapsed } from '../policy/lease.ts';
import type { Connection } from './connect.ts';

export interface Held {
  /** False for good once the lease may have lapsed. */
  isHeld(): boolean;
  /** It is done with. */
  letGo(): void;
}

export interface InProgress {
  /** From now on, for a lease of that length. */
  hold(message: { working(): void }, leaseMs: number): Held;
  /** No message is held any more. */
  close(): void;
}

const RENEW_PARTS = 3;

export function createInProgress({ isUp }: Pick<Connection, 'isUp'>): InProgress {
  const ends = new Set<() => void>();
  return {
    hold(message, leaseMs) {
      let leasedAt = performance.now();
      let lapsed = false;
      const isHeld = (): boolean => {
        lapsed ||= mayHaveLapsed({ now: performance.now(), leasedAt, beatAt: leasedAt }, leaseMs);
        return !lapsed;
      };
      const timer = setInterval(() => {
        if (!isHeld()) letGo();
        // What is said without a connection is lost without a word.
        else if (isUp()) {
          message.working();
          leasedAt = performance.now();
        }
      }, leaseMs / RENEW_PARTS).unref();
      const letGo = (): void => {
        clearInterval(timer);
        ends.delete(letGo);
      };
      ends.add(letGo);
      return { isHeld, letGo };
    },
    close() {
      for (const end of ends) end();
    },
  };
}
