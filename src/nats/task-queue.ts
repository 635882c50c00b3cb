/** Puts tasks into the queue: ready ones under their priority, the others as schedules that make them ready in time. */
import { Failure } from '../domain/failure.ts';
import type { TaskMessage, TaskSpec } from '../domain/task.ts';
import type { Route } from '../wire/lanes.ts';
import type { Names } from '../wire/names.ts';
import { encodeTask } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import { releaseParked, scheduleHeaders, type Release } from './parked.ts';
import type { Outgoing, Publisher } from './publisher.ts';
import { REFUSED_CONFLICT } from './publisher/answer.ts';

export interface TaskQueue {
  /** Resolves when all of them are stored; throws when that cannot be said of one. Twice does no harm. */
  enqueue(tasks: readonly TaskMessage[]): Promise<void>;
  /** Lets go on what was parked at that sequence or later and is held back no longer. */
  release(fromSeq: number, isHeld: (spec: TaskSpec) => boolean, over: AbortSignal): Promise<Release>;
  /** Messages in the stream, waiting, due later or in hand. */
  size(): Promise<number>;
}

const TOGETHER_MAX = 1_000;

export function createTaskQueue(
  connection: Connection,
  {
    names,
    publisher,
    route,
    now = Date.now,
  }: { names: Names; publisher: Publisher; route: Route; now?: () => number },
): TaskQueue {
  return {
    async enqueue(tasks) {
      for (let at = 0; at < tasks.length; at += TOGETHER_MAX) {
        const some = tasks.slice(at, at + TOGETHER_MAX);
        const outcomes = await publisher.publishMany(
          some.map((task) => taskMessage({ names, route }, task, now())),
        );
        for (const outcome of outcomes) {
          // Refused: it waits there already.
          const isThere =
            outcome.kind === 'stored' || (outcome.kind === 'refused' && outcome.code === REFUSED_CONFLICT);
          if (!isThere) throw new Failure('UNAVAILABLE', `the queue did not take a task: ${outcome.reason}`);
        }
      }
    },
    release: (fromSeq, isHeld, over) =>
      releaseParked(connection, { names, publisher, route }, { fromSeq, isHeld, over }),
    async size() {
      return (await connection.jsm.streams.info(names.stream('TASKS'))).state.messages;
    },
  };
}

/**
 * The message that makes a task ready, now or at its time. Nothing is put beside a copy that waits already: each copy
 * would have a life, and a count of deliveries, of its own.
 */
function taskMessage(
  { names, route }: { names: Names; route: Route },
  task: TaskMessage,
  now: number,
): Outgoing {
  const { spec } = task;
  const target = route(spec);
  const payload = encodeTask(task);
  if (spec.notBefore === undefined || spec.notBefore <= now)
    return { subject: target, payload, expect: 0, repeatable: true };
  const headers = scheduleHeaders(target, spec.notBefore);
  return { subject: names.delay(spec), payload, headers, repeatable: true };
}
