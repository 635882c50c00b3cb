/** Asks all workers at once how many handlers they run: heartbeats are too old to spread calls by them. */
import { createInbox } from '@nats-io/nats-core';
import * as v from 'valibot';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

const VERB = 'load';
/** A worker that is busy with a large page does not answer at once, and is not the one to choose. */
const LIMIT_MS = 100;

const answer = v.object({ worker: v.string(), running: v.pipe(v.number(), v.minValue(0)) });

/** Answers for one worker; returns the undo. */
export function answerLoad(
  { nc }: Connection,
  names: Names,
  { worker, running }: { worker: string; running: () => number },
): () => void {
  const subscription = nc.subscribe(names.broadcast(VERB), {
    callback: (error, message) => {
      if (!error) message.respond(encodeJson({ worker, running: running() }));
    },
  });
  return () => subscription.unsubscribe();
}

/** By worker. Ends when all of these have answered, or the time is up. */
export async function askLoad(
  { nc }: Connection,
  names: Names,
  workers: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const missing = new Set(workers);
  const loads = new Map<string, number>();
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const inbox = createInbox();
  const subscription = nc.subscribe(inbox, {
    callback: (error, { data }) => {
      const told = error || data.length === 0 ? undefined : v.safeParse(answer, decode(data));
      if (!told?.success) return;
      loads.set(told.output.worker, told.output.running);
      missing.delete(told.output.worker);
      if (missing.size === 0) end();
    },
  });
  nc.publish(names.broadcast(VERB), undefined, { reply: inbox });
  const timer = setTimeout(end, LIMIT_MS);
  try {
    await over;
  } finally {
    clearTimeout(timer);
    subscription.unsubscribe();
  }
  return loads;
}
