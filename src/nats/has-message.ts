/** Whether a stream holds anything under a subject. */
import { JetStreamApiCodes } from '@nats-io/jetstream';
import { Failure } from '../domain/failure.ts';
import { encodeJson } from '../wire/codec.ts';
import { ask } from './ask.ts';
import type { Connection } from './connect.ts';

interface GetReply {
  readonly error?: { readonly err_code: number; readonly description: string };
}

const LIMIT_MS = 5_000;

export async function hasMessage(
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
