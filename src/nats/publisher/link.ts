/**
 * Whether it makes sense to send now. Closed while the connection is down (the client would drop what we send),
 * while the server does not answer (it would only pile up copies), and for a moment after it said "not now".
 */
import type { Connection } from '../connect.ts';

export interface Link {
  isOpen(): boolean;
  /** An answer failed to come although the connection is up: stay closed until the server answers a ping. */
  suspect(): void;
  /** The server said "not now": stay closed for a while, longer each time in a row. */
  holdOff(): void;
  /** Stays closed until the work is done, so that nobody overtakes those whom the work is about. */
  during(work: Promise<void>): void;
  /** The server stored something. */
  progress(): void;
  close(): void;
}

export interface LinkEvents {
  onOpen(): void;
  /** The connection is gone: what was under way will not be answered. */
  onLost(): void;
}

const HOLD_OFF_MS = 50;
const HOLD_OFF_MAX_MS = 1_000;

export function createLink(connection: Connection, events: LinkEvents): Link {
  let silent = false;
  let works = 0;
  let holds = 0;
  let holding: NodeJS.Timeout | undefined;
  const unwatch = connection.onChange((up) => {
    silent = false;
    if (up) announce();
    else events.onLost();
  });

  return {
    isOpen,
    suspect() {
      if (silent || !connection.isUp()) return;
      silent = true;
      // The ping fails only with the connection, and then its return opens the link.
      connection.nc.flush().then(
        () => {
          silent = false;
          announce();
        },
        () => undefined,
      );
    },
    holdOff() {
      if (holding) return;
      const waitMs = Math.min(HOLD_OFF_MS * 2 ** holds, HOLD_OFF_MAX_MS) * (0.5 + Math.random() / 2);
      holds = Math.min(holds + 1, 10);
      holding = setTimeout(() => {
        holding = undefined;
        announce();
      }, waitMs);
    },
    during(work) {
      works += 1;
      void work.finally(() => {
        works -= 1;
        announce();
      });
    },
    progress() {
      if (holds > 0) holds = 0;
    },
    close() {
      unwatch();
      clearTimeout(holding);
    },
  };

  function isOpen(): boolean {
    return !silent && works === 0 && holding === undefined && connection.isUp();
  }

  function announce(): void {
    if (isOpen()) events.onOpen();
  }
}
