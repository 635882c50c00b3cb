/** Asks all workers at once how busy they are: heartbeats are too old to spread calls by them, or to decide by. */
import { createInbox } from '@nats-io/nats-core';
import * as v from 'valibot';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

const VERB = 'load';
/** A worker that is busy with a large page does not answer at once, and is not the one to choose. */
const LIMIT_MS = 100;

const count = v.pipe(v.number(), v.minValue(0));
const answer = v.object({
  worker: v.string(),
  running: count,
  slots: v.optional(count),
  slotsNow: v.optional(count),
  starved: v.optional(count),
  memoryBytes: v.optional(count),
  limitedBy: v.optional(v.array(v.string())),
});

/** What a worker says of itself; `running`: handlers, of tasks and of calls. */
export type WorkerLoad = Readonly<Omit<v.InferOutput<typeof answer>, 'worker'>>;

/** Answers for one worker; returns the undo. */
export function answerLoad(
  { nc }: Connection,
  names: Names,
  { worker, load }: { worker: string; load: () => WorkerLoad },
): () => void {
  const subscription = nc.subscribe(names.broadcast(VERB), {
    callback: (error, message) => {
      if (!error) message.respond(encodeJson({ worker, ...load() }));
    },
  });
  return () => subscription.unsubscribe();
}

/** Handlers by worker. Ends when all of these have answered, or the time is up. */
export async function askLoad(
  connection: Connection,
  names: Names,
  workers: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const loads = await askWorkers(connection, names, { workers, limitMs: LIMIT_MS });
  return new Map([...loads].map(([worker, { running }]) => [worker, running]));
}

/** By worker, also those that were not waited for. */
export async function askWorkers(
  { nc }: Connection,
  names: Names,
  { workers, limitMs }: { workers: readonly string[]; limitMs: number },
): Promise<ReadonlyMap<string, WorkerLoad>> {
  const missing = new Set(workers);
  const loads = new Map<string, WorkerLoad>();
  if (missing.size === 0) return loads;
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const inbox = createInbox();
  const subscription = nc.subscribe(inbox, {
    callback: (error, { data }) => {
      const told = error || data.length === 0 ? undefined : v.safeParse(answer, decode(data));
      if (!told?.success) return;
      const { worker, ...load } = told.output;
      loads.set(worker, load);
      missing.delete(worker);
      if (missing.size === 0) end();
    },
  });
  nc.publish(names.broadcast(VERB), undefined, { reply: inbox });
  const timer = setTimeout(end, limitMs);
  try {
    await over;
  } finally {
    clearTimeout(timer);
    subscription.unsubscribe();
  }
  return loads;
}
