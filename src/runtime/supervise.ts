/**
 * Keeps one actor running inside a process: what dies is started again after a back-off, until told to stop.
 * A failure that no second try can cure (wrong input, an id that is taken, a refusal) ends it with that failure.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure, type FailureCode } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';

export interface Restarts {
  /** How long to wait before start number `starts` + 1, `ranMs` after the last one began. */
  nextDelayMs(facts: { starts: number; ranMs: number; random: number }): number;
}

const HOPELESS: ReadonlySet<FailureCode> = new Set(['INVALID', 'REJECTED', 'CONFLICT']);

export async function supervise(options: {
  readonly name: string;
  readonly log: Log;
  readonly quiet: AbortSignal;
  readonly restarts: Restarts;
  readonly start: () => Promise<void>;
}): Promise<void> {
  const { name, log, quiet, restarts, start } = options;
  const hasStopped = (): boolean => quiet.aborted;
  for (let starts = 1; ; starts += 1) {
    const began = performance.now();
    try {
      await start();
      return;
    } catch (error) {
      const failure = asFailure(error);
      if (hasStopped() && failure.code === 'CANCELLED') return;
      if (hasStopped() || HOPELESS.has(failure.code)) throw failure;
      const ranMs = performance.now() - began;
      const waitMs = restarts.nextDelayMs({ starts, ranMs, random: Math.random() });
      log.error('actor.failed', {
        name,
        reason: failure.message,
        code: failure.code,
        restartInMs: Math.round(waitMs),
      });
      await delay(waitMs, undefined, { signal: quiet }).catch(() => undefined);
      if (hasStopped()) return;
    }
  }
}
