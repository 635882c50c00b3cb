/**
 * One call to one worker. A worker that dies in the middle sends nothing, so it is asked meanwhile whether it is there:
 * the server knows at once when a process is gone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { decode, encodeJson } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import { ask } from './ask.ts';
import type { Connection } from './connect.ts';

export type CallReply = { readonly kind: 'answer'; readonly body: unknown } | { readonly kind: 'lost' };

const LOOK_EVERY_MS = 500;
const LOOK_LIMIT_MS = 2_000;
/** A worker that is busy with a large page may miss one look. */
const SILENT_MAX = 2;

export async function callWorker(
  connection: Connection,
  names: Names,
  { worker, body, limitMs }: { worker: string; body: object; limitMs: number },
): Promise<CallReply> {
  const mailbox = names.mailbox('worker', worker);
  const over = new AbortController();
  const asking = ask(connection, { subject: `${mailbox}.call`, payload: encodeJson(body), limitMs });
  asking.catch(() => undefined); // it may end unheard
  try {
    const answer = await Promise.race([
      asking,
      untilGone(connection, `${mailbox}.status`, over.signal).then(() => ({ kind: 'nobody' }) as const),
    ]);
    if (answer.kind !== 'reply') return { kind: 'lost' };
    return { kind: 'answer', body: decode(answer.message.data) };
  } finally {
    over.abort();
  }
}

/** Never resolves while the worker is there. */
async function untilGone(connection: Connection, subject: string, over: AbortSignal): Promise<void> {
  for (let silent = 0; silent < SILENT_MAX;) {
    await delay(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return;
    const { kind } = await ask(connection, { subject, payload: new Uint8Array(), limitMs: LOOK_LIMIT_MS });
    if (kind === 'nobody') return;
    silent = kind === 'silence' ? silent + 1 : 0;
  }
}
