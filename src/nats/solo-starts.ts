/**
 * How often a suspected task was started alone without its worker living to tell. The count is stored before each
 * start, so it survives the worker; it is forgotten when the task ends in whatever way, or after a while.
 */
import type { TaskSpec } from '../domain/task.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Bucket } from './bucket.ts';

export interface SoloStarts {
  /** Counts one more, and tells how many there were before. */
  begin(spec: TaskSpec): Promise<number>;
  end(spec: TaskSpec): Promise<void>;
}

const TTL_MS = 3_600_000;
const MARKER_MS = 5_000;

export function createSoloStarts(bucket: Bucket): SoloStarts {
  const keyOf = ({ run, id }: TaskSpec): string => `solo.${run}.${id}`;
  return {
    async begin(spec) {
      const key = keyOf(spec);
      const entry = await bucket.get(key);
      const before = entry ? readCount(entry.value) : 0;
      // Not compared and set: two workers that start it at once are two starts at least, and one is counted.
      await bucket.put(key, encodeJson({ count: before + 1 }), { ttlMs: TTL_MS });
      return before;
    },
    async end(spec) {
      const entry = await bucket.get(keyOf(spec));
      if (entry) await bucket.purge(entry.key, { expect: entry.revision, markerTtlMs: MARKER_MS });
    },
  };
}

function readCount(value: Uint8Array): number {
  const { count } = decode(value) as { count: unknown };
  return typeof count === 'number' ? count : 0;
}
