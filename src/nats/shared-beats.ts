/**
 * The heartbeats for several who follow them in one process: one consumer on the server, each record read once. Who
 * comes later is told what is there. It begins with the first, and goes on until the end.
 */
import type { Beat } from '../domain/beat.ts';
import type { Log } from '../telemetry/log.ts';
import { watchBeats, type BeatChange } from './beats.ts';
import type { Bucket } from './bucket.ts';

/** Calls back with the records that are there, then with each change; resolves when the former were told. */
export type FollowBeats = (listener: (change: BeatChange) => void, signal: AbortSignal) => Promise<void>;

export function shareBeats(
  bucket: Bucket,
  options: { readonly log: Log; readonly signal: AbortSignal },
): FollowBeats {
  const known = new Map<string, Beat>();
  const listeners = new Set<(change: BeatChange) => void>();
  let begun: Promise<void> | undefined;

  return async (listener, signal) => {
    begun ??= watchBeats(bucket, options, hear);
    await begun;
    if (signal.aborted) return;
    for (const [key, beat] of known) listener({ key, beat });
    listeners.add(listener);
    signal.addEventListener('abort', () => listeners.delete(listener), { once: true });
  };

  function hear(change: BeatChange): void {
    if (change.beat) known.set(change.key, change.beat);
    else known.delete(change.key);
    for (const listener of [...listeners]) listener(change);
  }
}
