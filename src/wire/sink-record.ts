/** What the cluster keeps of a sink, as JSON: `nats kv get cluster sink.<name>` shows it. */
import * as v from 'valibot';
import { SINK_TYPES, type SinkRecord } from '../domain/sink.ts';
import { Failure } from '../domain/failure.ts';
import { decode, encodeJson } from './codec.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const text = v.string();

const schema = v.object({
  name: text,
  type: v.picklist(SINK_TYPES),
  target: text,
  identity: text,
  run: v.optional(text),
  kinds: v.optional(v.array(text)),
  checkpoint: v.object({
    life: v.optional(v.object({ ledger: text, sink: text })),
    seq: count,
    items: count,
    rejected: count,
    replayed: v.optional(text),
    pending: v.optional(count),
  }),
  updatedAt: count,
  error: v.optional(v.object({ at: count, message: text })),
});

export function encodeSink(record: SinkRecord): Uint8Array {
  return encodeJson(record);
}

export function decodeSink(bytes: Uint8Array): SinkRecord {
  const parsed = v.safeParse(schema, decode(bytes));
  if (parsed.success) return parsed.output;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'the record'}: ${issue.message}`);
  throw new Failure('INVALID', `not the record of a sink: ${problems.join('; ')}`);
}
