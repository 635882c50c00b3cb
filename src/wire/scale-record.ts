/** What the autoscaler wants, under `control.scale`: the exporter tells of it, and the next leader goes on from it. */
import * as v from 'valibot';
import { decode, encodeJson } from './codec.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const scaleRecord = v.object({
  desired: count,
  at: count, // epoch ms
  action: v.picklist(['up', 'down', 'hold', 'repair']),
  reason: v.string(),
  /** How often each was decided since the cluster was made. */
  decisions: v.object({ up: count, down: count, hold: count, repair: count }),
  lastUpAt: v.optional(count),
  lastDownAt: v.optional(count),
  /** Who decided. */
  by: v.string(),
});

export type ScaleRecord = Readonly<v.InferOutput<typeof scaleRecord>>;

export function encodeScale(record: ScaleRecord): Uint8Array {
  return encodeJson(record);
}

/** Undefined for what is none: the next decision replaces it. */
export function decodeScale(bytes: Uint8Array): ScaleRecord | undefined {
  const read = v.safeParse(scaleRecord, decode(bytes));
  return read.success ? read.output : undefined;
}
