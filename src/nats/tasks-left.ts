/** Whether anything is left to do: not yet taken in, ready, in somebody's hand, or waiting for its time. */
import { JetStreamApiCodes } from '@nats-io/jetstream';
import { Failure } from '../domain/failure.ts';
import type { Names } from '../wire/names.ts';
import { encodeJson } from '../wire/codec.ts';
import { ask } from './ask.ts';
import type { Connection } from './connect.ts';

interface GetReply {
  readonly error?: { readonly err_code: number; readonly description: string };
}

const LIMIT_MS = 5_000;

/** A work queue keeps a task until it is acknowledged, so an empty queue means that nobody has one in hand either. */
export async function isNothingLeft(connection: Connection, names: Names, run?: string): Promise<boolean> {
  const any = run ?? '*';
  const intake = {
    stream: names.stream('INTAKE'),
    subject: names.submit(run === undefined ? '>' : '*', run),
  };
  const delayed = { stream: names.stream('TASKS'), subject: names.delay({ run: any, id: '*' }) };
  const parked = { stream: names.stream('TASKS'), subject: names.parked({ run: any, id: '*' }) };
  const ready = { stream: names.stream('TASKS'), subject: `${names.namespace}.task.*.*.${any}.*` };
  // In the order in which a task moves, so that one that moves meanwhile is met: from a hand it may go back to wait.
  for (const place of [intake, delayed, parked, ready, delayed, parked])
    if (await hasMessage(connection, place)) return false;
  return true;
}

async function hasMessage(
  connection: Connection,
  { stream, subject }: { stream: string; subject: string },
): Promise<boolean> {
  const answer = await ask(connection, {
    subject: `$JS.API.STREAM.MSG.GET.${stream}`,
    payload: encodeJson({ seq: 1, next_by_subj: subject }),
    limitMs: LIMIT_MS,
  });
  if (answer.kind !== 'reply') throw new Failure('UNAVAILABLE', `stream ${stream} does not answer`);
  const { error } = answer.message.json<GetReply>();
  if (!error) return true;
  if ((error.err_code as JetStreamApiCodes) === JetStreamApiCodes.NoMessageFound) return false;
  throw new Failure('UNAVAILABLE', `stream ${stream} cannot be read: ${error.description}`);
}
