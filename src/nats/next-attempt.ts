/**
 * Stores the next attempt of a task: on its own subject, to be delivered at once, or as a schedule that the server
 * fires at its time, or that keeps it until it is let go on. A task has one schedule at most: a second one takes the place of the first.
 */
import type { TaskMessage } from '../domain/task.ts';
import type { Route } from '../wire/lanes.ts';
import type { Names } from '../wire/names.ts';
import { encodeTask } from '../wire/task-codec.ts';
import { scheduleHeaders } from './parked.ts';
import type { Publisher } from './publisher.ts';

export type StoreNext = (
  task: TaskMessage,
  atMs: number | 'parked' | undefined,
) => Promise<{ readonly kind: 'stored' } | { readonly kind: 'failed'; readonly reason: string }>;

export function createStoreNext(
  publisher: Publisher,
  { names, route }: { names: Names; route: Route },
): StoreNext {
  return async (task, atMs) => {
    const target = route(task.spec);
    // Two copies of an attempt do no harm: only one outcome is ever stored.
    const common = { payload: encodeTask(task), repeatable: true };
    const outcome = await publisher.publish(
      atMs === undefined
        ? { ...common, subject: target }
        : {
            ...common,
            subject: atMs === 'parked' ? names.parked(task.spec) : names.delay(task.spec),
            headers: scheduleHeaders(target, atMs),
          },
    );
    return outcome.kind === 'stored' ? outcome : { kind: 'failed', reason: outcome.reason };
  };
}
