/** The verb `call` in the mailbox of a worker. */
import type { CallAnswer } from '../actors/worker/calls.ts';
import type { Worker } from '../actors/worker.ts';
import { readCall } from '../services/read-call.ts';
import { encodeJson } from '../wire/codec.ts';
import type { ActorParts } from './roles.ts';

/** What a coordinator adds when it passes an answer on. */
const FRAME_BYTES = 4_096;

/** What is too large for a reply is told, not cut. */
export async function answerCall(
  { connection }: Pick<ActorParts, 'connection'>,
  call: Worker['call'],
  body: unknown,
): Promise<CallAnswer> {
  const { spec, timeoutMs } = readCall(body, Date.now());
  const answer = await call(spec, timeoutMs);
  const maxBytes = (connection.nc.info?.max_payload ?? Infinity) - FRAME_BYTES;
  if (answer.state !== 'done' || encodeJson(answer).length <= maxBytes) return answer;
  const message = `the answer has more than ${maxBytes} bytes; submit a task instead`;
  return { state: 'failed', error: { code: 'TOO_BIG', message }, ms: answer.ms };
}
