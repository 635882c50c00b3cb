/** Asks all workers at once what they have in hand: the answers are of this moment, and nobody who is not asked sends any. */
import { createInbox } from '@nats-io/nats-core';
import * as v from 'valibot';
import type { InHand } from '../policy/run-load.ts';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';

const VERB = 'in-hand';
/** A worker that is busy with a large page does not answer at once, and nobody waits for it. */
const LIMIT_MS = 25;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const question = v.object({ run: v.optional(v.string()) });
const answer = v.object({ runs: v.array(v.tuple([v.string(), count])), other: count });

/** Answers for one worker; returns the undo. */
export function answerInHand(
  { nc }: Connection,
  names: Names,
  look: (asked: string | undefined) => InHand,
): () => void {
  const subscription = nc.subscribe(names.broadcast(VERB), {
    callback: (error, message) => {
      const asked = error ? undefined : read(question, message.data);
      if (asked) message.respond(encodeJson(look(asked.run)));
    },
  });
  return () => subscription.unsubscribe();
}

/** The answers that came in time; ends early once there are as many as `expected`. */
export async function askInHand(
  { nc }: Connection,
  names: Names,
  { run, expected }: { run?: string | undefined; expected: Promise<number> },
): Promise<InHand[]> {
  const answers: InHand[] = [];
  let enough = Infinity;
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const inbox = createInbox();
  const subscription = nc.subscribe(inbox, {
    callback: (error, { data }) => {
      const told = error || data.length === 0 ? undefined : read(answer, data);
      if (told) answers.push(told);
      if (answers.length >= enough) end();
    },
  });
  nc.publish(names.broadcast(VERB), encodeJson({ run }), { reply: inbox });
  let timer: NodeJS.Timeout | undefined;
  try {
    enough = await expected;
    timer = setTimeout(end, LIMIT_MS);
    if (answers.length < enough) await over;
  } finally {
    clearTimeout(timer);
    subscription.unsubscribe();
  }
  return answers;
}

/** What cannot be read is no answer. */
function read<Schema extends v.GenericSchema>(
  schema: Schema,
  data: Uint8Array,
): v.InferOutput<Schema> | undefined {
  try {
    const parsed = v.safeParse(schema, decode(data));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
