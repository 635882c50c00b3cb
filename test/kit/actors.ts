/** Actors in the registry as a test makes them, and what a watcher sees of them. */
import { hostname } from 'node:os';
import type { Beat } from '../../src/domain/beat.ts';
import { claimIdentity, watchBeats, type ClaimOptions } from '../../src/nats/beats.ts';
import type { Bucket } from '../../src/nats/bucket.ts';
import type { Identity } from '../../src/nats/identity.ts';
import { isProcessRunning, readPlace } from '../../src/runtime/place.ts';
import { quietLog, type Teardown } from './nats-server.ts';

/** A worker of this process, unless told otherwise; it says goodbye with the test. */
export async function claim(
  t: Teardown,
  from: Bucket,
  beat: Partial<Beat> & { id: string },
  options: Partial<ClaimOptions> = {},
): Promise<Identity> {
  const identity = await claimIdentity(from, {
    deadAfterMs: 60_000,
    log: quietLog,
    isRunning: isProcessRunning,
    ...options,
    beat: {
      role: 'worker',
      host: hostname(),
      place: readPlace(),
      pid: process.pid,
      version: '0.0.0',
      startedAt: Date.now(),
      status: 'initializing',
      paused: false,
      inFlight: 0,
      limits: {},
      ...beat,
    },
  });
  t.teardown(() => identity.end());
  return identity;
}

export interface Watcher {
  of(id: string): (Beat | undefined)[];
  until(id: string, fits: (beat: Beat) => boolean): Promise<Beat>;
  untilGone(id: string): Promise<void>;
}

export async function watch(t: Teardown, from: Bucket): Promise<Watcher> {
  const changes: { key: string; beat: Beat | undefined }[] = [];
  const looks = new Set<() => void>();
  const end = new AbortController();
  t.teardown(() => end.abort());
  await watchBeats(from, { log: quietLog, signal: end.signal }, (change) => {
    changes.push(change);
    for (const look of looks) look();
  });
  const of: Watcher['of'] = (id) =>
    changes.filter(({ key }) => key === `beat.worker.${id}`).map(({ beat }) => beat);
  return {
    of,
    until: (id, fits) => found(() => of(id).find((beat) => beat && fits(beat))),
    async untilGone(id) {
      await found(() => (of(id).length > 0 && of(id).at(-1) === undefined ? true : undefined));
    },
  };

  function found<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const lookAgain = (): void => {
        const value = look();
        if (value === undefined) return;
        looks.delete(lookAgain);
        resolve(value);
      };
      looks.add(lookAgain);
      lookAgain();
    });
  }
}
