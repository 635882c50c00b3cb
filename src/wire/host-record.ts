/** A host in the `egress` bucket, and what its robots.txt said: JSON. */
import * as v from 'valibot';
import { amount, closure, limits, name, readRecord, time } from './record-fields.ts';

const host = v.object({
  type: v.literal('host'),
  host: name,
  limits: v.optional(limits),
  throttleScope: v.optional(v.picklist(['host', 'egress'])),
  standing: v.optional(
    v.object({
      closure: v.optional(closure),
      throttles: amount,
      blocks: amount,
      adaptiveDelayMs: time,
      asked: v.record(v.string(), limits),
      looseUntil: time,
    }),
  ),
});

const robots = v.object({
  type: v.literal('robots'),
  host: name,
  version: v.number(),
  text: v.optional(v.string()),
  crawlDelayMs: time,
  until: time,
  failures: amount,
});

export const decodeHost = (bytes: Uint8Array): v.InferOutput<typeof host> => readRecord(host, bytes);
export const decodeRobots = (bytes: Uint8Array): v.InferOutput<typeof robots> => readRecord(robots, bytes);
