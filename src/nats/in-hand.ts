/**
 * What a worker has in hand, under one key with a time limit: `why` can say who works on a task, and when the worker
 * dies, others give its tasks back for it.
 */
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';
import { keys } from '../wire/names.ts';
import type { Bucket } from './bucket.ts';

export interface InHandOptions {
  readonly worker: string;
  /** Which life of it this is. */
  readonly startedAt: number; // epoch ms
  /** As long as its heartbeat counts. */
  readonly ttlMs: number;
  readonly log: Log;
}

/** Called with the list at most once a second; writes it when it has changed, or before it expires. */
export function createInHand(bucket: Bucket, options: InHandOptions): (hands: readonly object[]) => void {
  const key = keys.inHand({ id: options.worker, startedAt: options.startedAt });
  const restMs = options.ttlMs / 3;
  let written = '';
  let writtenAt = -Infinity;
  let latest: string | undefined;
  let writing = false;

  return (hands) => {
    const text = JSON.stringify(hands);
    if (text === written && performance.now() - writtenAt < restMs) return;
    latest = text;
    if (!writing) void write();
  };

  /** One after the other; of several that wait only the last is written. */
  async function write(): Promise<void> {
    writing = true;
    while (latest !== undefined) {
      const text = latest;
      latest = undefined;
      try {
        await bucket.put(key, new TextEncoder().encode(text), { ttlMs: options.ttlMs });
        written = text;
        writtenAt = performance.now();
      } catch (error) {
        options.log.warn('hand.unstored', { reason: messageOf(error) });
      }
    }
    writing = false;
  }
}
