/**
 * Tasks that nobody has in hand: they were delivered to a worker that died, which had read them or not. The server does not say
 * who has what. So it is found by what is left: of all that the queues have lent, what no living worker says that it
 * holds. The queues are asked first: what they lend before that is in the hands of whoever is asked afterwards.
 * One that is given back by mistake runs twice, and still ends in one outcome.
 */
import { createInbox } from '@nats-io/nats-core';
import * as v from 'valibot';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import type { Connection } from './connect.ts';
import { listLanes } from './lanes.ts';
import { readPages } from './read-last.ts';

const VERB = 'held';
/** A worker that is busy with a large page does not answer at once. */
const ANSWERS_MAX_MS = 3_000;
const PAGE_MAX_MS = 5_000;
const GIVE_BACK = new TextEncoder().encode('-NAK');

const answer = v.object({ worker: v.string(), seqs: v.array(v.number()) });

/** Answers for one worker: the deliveries that it has, by where they can be answered. Returns the undo. */
export function answerHeld(
  { nc }: Connection,
  names: Names,
  { worker, held }: { readonly worker: string; readonly held: () => readonly string[] },
): () => void {
  const subscription = nc.subscribe(names.broadcast(VERB), {
    callback: (error, message) => {
      if (!error) message.respond(encodeJson({ worker, seqs: held().map(sequenceOf) }));
    },
  });
  return () => subscription.unsubscribe();
}

/** How many were given back; undefined: not all of the living have answered, so nobody knows. */
export async function giveBackOrphans(
  connection: Connection,
  names: Names,
  living: () => Promise<readonly string[]>,
): Promise<number | undefined> {
  const lent = await listLent(connection, names);
  if (lent.length === 0) return 0;
  const held = await askHeld(connection, names, await living());
  if (!held) return undefined;
  let count = 0;
  for (const lane of lent)
    for await (const seq of sequencesOf(connection, names, lane)) {
      if (held.has(seq)) continue;
      connection.nc.publish(
        `$JS.ACK.${names.stream('TASKS')}.${lane.name}.1.${seq}.${lane.delivered}.0.0`,
        GIVE_BACK,
      );
      count += 1;
    }
  return count;
}

interface Lent {
  readonly name: string;
  readonly filter: string;
  /** The last delivery, as the consumer counts them. */
  readonly delivered: number;
  readonly upTo: number; // sequence in the stream
}

async function listLent(connection: Connection, names: Names): Promise<Lent[]> {
  return (await listLanes(connection, names))
    .filter(({ info }) => info.num_ack_pending > 0)
    .map(({ name, filter, info: { delivered } }) => ({
      ...{ name, filter },
      delivered: delivered.consumer_seq,
      upTo: delivered.stream_seq,
    }));
}

/** A work queue keeps nothing that is done: what it has up to its last delivery is lent, or waits to be lent again. */
async function* sequencesOf(
  connection: Connection,
  names: Names,
  { filter, upTo }: Lent,
): AsyncGenerator<number> {
  for await (const page of readPages(connection, {
    stream: names.stream('TASKS'),
    subject: filter,
    limitMs: PAGE_MAX_MS,
  })) {
    for (const { seq } of page.values()) {
      if (seq > upTo) return;
      yield seq;
    }
  }
}

/** Undefined unless every one of these has answered. */
function askHeld(
  { nc }: Connection,
  names: Names,
  living: readonly string[],
): Promise<ReadonlySet<number> | undefined> {
  const missing = new Set(living);
  const held = new Set<number>();
  const inbox = createInbox();
  return new Promise((resolve) => {
    const end = (found: ReadonlySet<number> | undefined): void => {
      clearTimeout(timer);
      subscription.unsubscribe();
      resolve(found);
    };
    const subscription = nc.subscribe(inbox, {
      callback(error, { data }) {
        if (error || data.length === 0) return;
        const told = v.safeParse(answer, decode(data));
        if (!told.success) return;
        for (const seq of told.output.seqs) held.add(seq);
        missing.delete(told.output.worker);
        if (missing.size === 0) end(held);
      },
    });
    const timer = setTimeout(() => end(undefined), ANSWERS_MAX_MS);
    if (missing.size === 0) end(held);
    else nc.publish(names.broadcast(VERB), encodeJson({}), { reply: inbox });
  });
}

/** `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.<sequence in the stream>.…` */
function sequenceOf(reply: string): number {
  const tokens = reply.split('.');
  return Number(tokens[tokens.length > 9 ? 7 : 5]);
}
