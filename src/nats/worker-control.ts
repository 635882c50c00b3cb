/** What may be asked of workers from outside: to drain, to pause, and whether they still have something in hand. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../telemetry/log.ts';
import type { Names } from '../wire/names.ts';
import { listBeats } from './beats.ts';
import type { Bucket } from './bucket.ts';
import type { Connection } from './connect.ts';
import { askWorkers } from './load-survey.ts';
import { askActor } from './mailbox.ts';

export interface WorkerControlParts {
  readonly connection: Connection;
  readonly names: Names;
  readonly bucket: Bucket;
  readonly log: Log;
}

const ANSWER_MAX_MS = 5_000;
const LOOK_EVERY_MS = 500;

export function createWorkerControl({ connection, names, bucket, log }: WorkerControlParts): {
  drain(id: string): Promise<void>;
  pause(id: string): Promise<void>;
  untilIdle(ids: readonly string[], limitMs: number, signal: AbortSignal): Promise<void>;
} {
  const tell = async (id: string, verb: string, body?: object): Promise<void> => {
    await askActor(connection, { names, role: 'worker', id, verb, body, timeoutMs: ANSWER_MAX_MS });
  };
  return {
    drain: (id) => tell(id, 'drain', { finish: true }),
    pause: (id) => tell(id, 'pause'),
    async untilIdle(ids, limitMs, signal) {
      const until = performance.now() + limitMs;
      while (!signal.aborted && performance.now() < until && (await areBusy(ids)))
        await delay(Math.min(LOOK_EVERY_MS, Math.max(1, until - performance.now())));
    },
  };

  async function areBusy(ids: readonly string[]): Promise<boolean> {
    if (ids.length === 0) return false;
    const [beats, loads] = await Promise.all([
      listBeats(bucket, log),
      askWorkers(connection, names, { workers: ids, limitMs: LOOK_EVERY_MS }),
    ]);
    // A worker that drains is gone when it is done; one that pauses stays.
    const drains = beats.some(
      ({ role, id, status }) => role === 'worker' && status === 'draining' && ids.includes(id),
    );
    return drains || [...loads].some(([id, { running }]) => running > 0 && ids.includes(id));
  }
}
