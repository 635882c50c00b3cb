/**
 * How often a suspected task was started alone without its worker living to tell. Each start is stored before it
 * happens, so it survives the worker; all are forgotten when the task ends in whatever way, or after a while.
 *
 * A start counts once its worker is gone. One that says nothing for longer than its lease is started elsewhere while
 * the first still runs, and that is no death.
 */
import * as v from 'valibot';
import type { TaskSpec } from '../domain/task.ts';
import type { Log } from '../telemetry/log.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import { listBeats } from './beats.ts';
import type { Bucket } from './bucket.ts';

/** One life of a worker, as its heartbeat tells. */
export interface Life {
  readonly id: string;
  readonly startedAt: number; // epoch ms
}

export interface SoloStarts {
  /** Stores one more, and tells how many of those before have ended their workers. */
  begin(spec: TaskSpec): Promise<number>;
  end(spec: TaskSpec): Promise<void>;
}

const TTL_MS = 3_600_000;
const MARKER_MS = 5_000;
/** More than are ever looked at: it is buried long before. */
const KEPT_MAX = 20;

const recordSchema = v.fallback(v.object({ starts: v.array(v.string()) }), { starts: [] });

export function createSoloStarts(bucket: Bucket, { self, log }: { self: Life; log: Log }): SoloStarts {
  const keyOf = ({ run, id }: TaskSpec): string => `solo.${run}.${id}`;
  return {
    async begin(spec) {
      const key = keyOf(spec);
      const entry = await bucket.get(key);
      const { starts } = v.parse(recordSchema, entry && decode(entry.value));
      const living = new Set(
        (await listBeats(bucket, log)).filter(({ status }) => status !== 'stopped').map(nameLife),
      );
      // Not compared and set: two workers that start it at once are two starts at least, and one is counted.
      const next = [...starts, nameLife(self)].slice(-KEPT_MAX);
      await bucket.put(key, encodeJson({ starts: next }), { ttlMs: TTL_MS });
      return starts.filter((life) => !living.has(life)).length;
    },
    async end(spec) {
      const entry = await bucket.get(keyOf(spec));
      if (entry) await bucket.purge(entry.key, { expect: entry.revision, markerTtlMs: MARKER_MS });
    },
  };
}

function nameLife({ id, startedAt }: Life): string {
  return `${id} ${startedAt}`;
}
