/** Puts tasks into the queue: ready ones under their priority, the others as schedules that make them ready in time. */
import { Failure } from '../domain/failure.ts';
import type { TaskMessage, TaskSpec } from '../domain/task.ts';
import type { Names } from '../wire/names.ts';
import { encodeTask } from '../wire/task-codec.ts';
import type { Connection } from './connect.ts';
import { releaseParked, scheduleHeaders, type Release } from './parked.ts';
import type { Outgoing, Publisher } from './publisher.ts';
import { publishAll } from './publisher/all.ts';
import { REFUSED_CONFLICT } from './publisher/answer.ts';

export interface TaskQueue {
  /** Resolves when all of them are stored; throws when that cannot be said of one. Twice does no harm. */
  enqueue(tasks: readonly TaskMessage[]): Promise<void>;
  /** Lets go on what was parked at that sequence or later and is held back no longer. */
  release(fromSeq: number, isHeld: (spec: TaskSpec) => boolean, over: AbortSignal): Promise<Release>;
  /** Messages in the stream, waiting, due later or in hand. */
  size(): Promise<number>;
}

export function createTaskQueue(
  connection: Connection,
  { names, publisher, now = Date.now }: { names: Names; publisher: Publisher; now?: () => number },
): TaskQueue {
  return {
    async enqueue(tasks) {
      let problem: string | undefined;
      await publishAll(publisher, outgoing(tasks), (_, outcome) => {
        // Refused: it waits there already.
        if (outcome.kind === 'refused' && outcome.code === REFUSED_CONFLICT) return;
        if (outcome.kind !== 'stored') problem ??= outcome.reason;
      });
      if (problem !== undefined)
        throw new Failure('UNAVAILABLE', `the queue did not take a task: ${problem}`);
    },
    release: (fromSeq, isHeld, over) =>
      releaseParked(connection, { names, publisher }, { fromSeq, isHeld, over }),
    async size() {
      return (await connection.jsm.streams.info(names.stream('TASKS'))).state.messages;
    },
  };

  function* outgoing(tasks: readonly TaskMessage[]): Generator<Outgoing> {
    for (const task of tasks) yield taskMessage(names, task, now());
  }
}

/**
 * The message that makes a task ready, now or at its time. Nothing is put beside a copy that waits already: each copy
 * would have a life, and a count of deliveries, of its own.
 */
export function taskMessage(names: Names, task: TaskMessage, now: number): Outgoing {
  const { spec } = task;
  const target = names.task(spec);
  const payload = encodeTask(task);
  if (spec.notBefore === undefined || spec.notBefore <= now)
    return { subject: target, payload, expect: 0, repeatable: true };
  const headers = scheduleHeaders(target, spec.notBefore);
  return { subject: names.delay(spec), payload, headers, repeatable: true };
}
