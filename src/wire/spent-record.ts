/** Requests that still count against a cap: through an egress, and at one host through one egress. JSON. */
import * as v from 'valibot';
import { amount, closure, name, readRecord, time } from './record-fields.ts';

const counts = v.array(v.tuple([time, amount]));

const spent = v.object({
  type: v.literal('spent'),
  egress: name,
  usedAt: time,
  hour: counts,
  minute: counts,
});

const pair = v.object({
  type: v.literal('pair'),
  egress: name,
  host: name,
  hour: counts,
  minute: counts,
  closure: v.optional(closure),
  times: amount,
});

export const decodeSpent = (bytes: Uint8Array): v.InferOutput<typeof spent> => readRecord(spent, bytes);
export const decodePair = (bytes: Uint8Array): v.InferOutput<typeof pair> => readRecord(pair, bytes);
