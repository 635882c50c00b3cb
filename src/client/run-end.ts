/** Watches a run until it has ended. */
import { Failure } from '../domain/failure.ts';
import type { Bucket } from '../nats/bucket.ts';
import { keys } from '../wire/names.ts';
import { decodeRun, type RunRecord } from '../wire/run-record.ts';

const ENDED: ReadonlySet<RunRecord['state']> = new Set(['done', 'done_with_errors', 'cancelled']);

export function hasEnded({ state }: Pick<RunRecord, 'state'>): boolean {
  return ENDED.has(state);
}

/** Whether its counts are final. The tasks of a run that is cancelled are cancelled one after the other, behind it. */
export function isSettled(run: { readonly state: RunRecord['state']; readonly final?: unknown }): boolean {
  return hasEnded(run) && (run.state !== 'cancelled' || run.final !== undefined);
}

/**
 * Resolves when the run has ended and is settled; rejects when there is no such run, or it is removed, and never settles when the
 * signal aborts before.
 */
export async function whenEnded(bucket: Bucket, run: string, signal: AbortSignal): Promise<void> {
  const watching = new AbortController();
  const stop = (): void => watching.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      let seen = false;
      const told = bucket.watch(
        keys.run(run),
        ({ entry }) => {
          seen = true;
          try {
            if (!entry) reject(unknownRun(run));
            else if (isSettled(decodeRun(entry.value))) resolve();
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        },
        watching.signal,
      );
      told.then(() => {
        if (!seen && !signal.aborted) reject(unknownRun(run));
      }, reject);
    });
  } finally {
    signal.removeEventListener('abort', stop);
    watching.abort();
  }
}

export function unknownRun(run: string): Failure {
  return new Failure('INVALID', `there is no run ${run}`, { hint: '`trawl runs ls` lists the runs.' });
}
