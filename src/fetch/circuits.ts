/**
 * Another way through Tor after a way was not welcome. Tor makes a new one at most every ten seconds, and for all that go
 * through it at once; connections on the old way stay on it, so they are not used again.
 */
import { messageOf } from '../domain/failure.ts';
import type { TorControl } from '../http/tor-control.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { Permit } from './permit.ts';

export interface Circuits {
  /** As soon as Tor would do it. Changes nothing for an egress that is not Tor. */
  renew(permit: Pick<Permit, 'egress' | 'control'>): void;
  close(): void;
}

export interface CircuitParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly renew: (control: TorControl) => Promise<void>;
  /** Connections of this egress are not used again. */
  readonly drop: (egress: string) => void;
}

/** One control port. */
interface Tor {
  readonly egresses: Set<string>;
  askedAt: number; // monotonic ms
  cancel: (() => void) | undefined;
}

export const RENEW_EVERY_MS = 10_000;

export function createCircuits({ clock, log, renew, drop }: CircuitParts): Circuits {
  const tors = new Map<string, Tor>();
  let closed = false;

  return {
    renew({ egress, control }) {
      if (!control || closed) return;
      const key = `${control.host} ${control.port}`;
      let tor = tors.get(key);
      if (!tor) tors.set(key, (tor = { egresses: new Set(), askedAt: -Infinity, cancel: undefined }));
      tor.egresses.add(egress);
      plan(tor, control);
    },
    close() {
      closed = true;
      for (const { cancel } of tors.values()) cancel?.();
    },
  };

  /** Those who ask while one is planned share it. */
  function plan(tor: Tor, control: TorControl): void {
    if (tor.cancel) return;
    const waitMs = Math.max(0, tor.askedAt + RENEW_EVERY_MS - clock.now());
    tor.cancel = clock.after(waitMs, () => {
      tor.cancel = undefined;
      tor.askedAt = clock.now();
      void ask(tor, control);
    });
  }

  async function ask({ egresses }: Tor, control: TorControl): Promise<void> {
    const names = [...egresses];
    try {
      await renew(control);
      for (const egress of names) drop(egress);
      log.info('egress.renewed', { egresses: names });
    } catch (error) {
      log.error('egress.not_renewed', { egresses: names, reason: messageOf(error) });
    }
  }
}
