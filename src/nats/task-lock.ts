/** A lock that a handler takes for a part of its task, on a key of its own choosing. */
import type { Failure } from '../domain/failure.ts';
import { shortHash } from '../domain/task-id.ts';
import { TOKEN } from '../wire/names.ts';
import type { Bucket } from './bucket.ts';
import { withLock } from './lock.ts';

export interface TaskLockOptions {
  readonly owner: string;
  readonly ttlMs: number;
}

export type WithTaskLock = <T>(
  lock: {
    readonly key: string;
    readonly signal: AbortSignal;
    readonly onLost: (failure: Failure) => void;
  },
  use: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** CONFLICT when somebody else holds it, or does so by the end. The signal aborts with the task, and when the lock is lost. */
export function createTaskLock(bucket: Bucket, options: TaskLockOptions): WithTaskLock {
  return ({ key, signal, onLost }, use) =>
    withLock(bucket, `task.${TOKEN.test(key) ? key : shortHash(key)}`, options, async (held) => {
      const { lost } = held;
      const tell = (): void => onLost(lost.reason as Failure);
      const either = new AbortController();
      const follow = ({ target }: { target: unknown }): void => either.abort((target as AbortSignal).reason);
      if (signal.aborted) either.abort(signal.reason);
      signal.addEventListener('abort', follow);
      lost.addEventListener('abort', tell);
      lost.addEventListener('abort', follow);
      try {
        const result = await use(either.signal);
        held.token(); // whoever slept through the limit finds out here
        return result;
      } finally {
        lost.removeEventListener('abort', tell);
        signal.removeEventListener('abort', follow);
        lost.removeEventListener('abort', follow);
      }
    });
}
