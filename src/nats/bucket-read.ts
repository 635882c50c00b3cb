/** Reading one key from the bucket's leader, and telling values from markers. */
import { headers as createHeaders, MsgHdrsImpl, type MsgHdrs } from '@nats-io/nats-core';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { ask } from './ask.ts';
import type { BucketSite, ChangeReason, Entry, Slot } from './bucket.ts';
import { WRITE_ID_HEADER } from './bucket-write.ts';

const ANSWER_MAX_MS = 2_000;
const PAUSE_MS = 100;
const NO_MESSAGE = 10_037;
const NOTHING: Slot = { revision: 0, entry: undefined, writeId: '' };

interface ReadReply {
  readonly message?: {
    readonly seq: number;
    readonly time: string;
    readonly hdrs?: string;
    readonly data?: string;
  };
  readonly error?: { readonly code: number; readonly err_code: number; readonly description: string };
}

export async function readSlot(site: BucketSite, key: string, limitMs: number): Promise<Slot> {
  const { connection, stream } = site;
  const payload = new TextEncoder().encode(JSON.stringify({ last_by_subj: site.subjectOf(key) }));
  const subject = `${connection.js.apiPrefix}.STREAM.MSG.GET.${stream}`;
  const until = performance.now() + limitMs;
  for (;;) {
    const leftMs = Math.max(1, until - performance.now());
    const answer = await ask(connection, { subject, payload, limitMs: Math.min(ANSWER_MAX_MS, leftMs) });
    if (answer.kind === 'reply') {
      const { message, error } = answer.message.json<ReadReply>();
      if (message) return slotOf(key, message);
      if (error?.err_code === NO_MESSAGE) return NOTHING;
      if (error && error.code < 500)
        throw new Failure('REJECTED', `${key} in bucket ${site.name} cannot be read: ${error.description}`);
    }
    if (performance.now() + PAUSE_MS >= until)
      throw new Failure('UNAVAILABLE', `nobody answers for bucket ${site.name}`, {
        hint: `Check that NATS is reachable and has the stream ${stream}.`,
      });
    await delay(PAUSE_MS);
  }
}

function slotOf(key: string, message: NonNullable<ReadReply['message']>): Slot {
  const headers = message.hdrs ? MsgHdrsImpl.decode(Buffer.from(message.hdrs, 'base64')) : createHeaders();
  const entry: Entry = {
    key,
    value: Buffer.from(message.data ?? '', 'base64'),
    revision: message.seq,
    storedAt: Date.parse(message.time),
  };
  const gone = reasonOf(headers) !== 'put';
  return { revision: message.seq, entry: gone ? undefined : entry, writeId: headers.get(WRITE_ID_HEADER) };
}

/** Tells a value from the markers that stand for something removed (by us or the CLI) or expired (by the server). */
export function reasonOf(headers: MsgHdrs | undefined): Exclude<ChangeReason, 'missed'> {
  const marker = headers?.get('Nats-Marker-Reason') ?? '';
  if (marker === 'MaxAge') return 'expired';
  const operation = headers?.get('KV-Operation') ?? '';
  return marker !== '' || operation === 'DEL' || operation === 'PURGE' ? 'deleted' : 'put';
}
