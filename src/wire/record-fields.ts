/** What the records of the egress have in common: they are JSON, and read with care, because people may write them too. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import { decode } from './codec.ts';

export const name = v.pipe(v.string(), v.minLength(1));
export const amount = v.pipe(v.number(), v.integer(), v.minValue(0));
export const time = v.pipe(v.number(), v.finite()); // epoch ms, or ms
export const caps = v.object({ perHour: amount, perMinute: amount });
export const headers = v.record(v.string(), v.string());

export const limits = v.object({
  perHour: v.exactOptional(amount),
  perMinute: v.exactOptional(amount),
  delayMs: v.exactOptional(time),
  egressDelayMs: v.exactOptional(time),
  jitter: v.exactOptional(time),
  concurrency: v.exactOptional(amount),
  egressCaps: v.exactOptional(caps),
});

export const closure = v.object({ reason: v.string(), since: time, until: v.optional(time) });

export function readRecord<Schema extends v.GenericSchema>(
  schema: Schema,
  bytes: Uint8Array,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, decode(bytes));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  // The text of an issue may repeat what it found, and that may be a secret: the place must do.
  throw new Failure('INVALID', `not a record of the egress: ${v.getDotPath(issue) ?? 'the whole'} is wrong`);
}
