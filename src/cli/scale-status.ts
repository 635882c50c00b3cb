/** What the autoscaler that leads says of itself. */
import * as v from 'valibot';
import { readAnswer } from '../client/answers.ts';
import { SCALE_POLICIES } from '../domain/scale.ts';
import type { ScaleLimits } from '../policy/autoscale/limits.ts';

const amount = v.pipe(v.number(), v.minValue(0));
const limits = v.object({
  policy: v.picklist(SCALE_POLICIES),
  min: amount,
  max: amount,
  cooldownUpMs: amount,
  cooldownDownMs: amount,
  staleAfterMs: amount,
  drainTargetMs: amount,
  jobsUp: amount,
  jobsDown: amount,
  perWorker: amount,
  slots: amount,
} satisfies Record<keyof ScaleLimits, unknown>);

const status = v.object({
  leader: v.string(),
  driver: v.string(),
  source: v.string(),
  limits,
  intervalMs: amount,
  nextAt: amount,
  record: v.optional(
    v.looseObject({
      desired: amount,
      decisions: v.record(v.string(), amount),
      lastUpAt: v.optional(amount),
      lastDownAt: v.optional(amount),
    }),
  ),
  decision: v.optional(
    v.looseObject({
      from: amount,
      to: amount,
      action: v.string(),
      reason: v.string(),
      limitedBy: v.array(v.string()),
      inputs: v.looseObject({
        backlog: v.optional(amount),
        need: v.optional(amount),
        ordered: v.optional(amount),
        load: v.optional(v.record(v.string(), v.optional(v.number()))),
        guard: v.optional(v.looseObject({ factors: v.array(v.string()) })),
      }),
    }),
  ),
  decidedAt: v.optional(amount),
  words: v.optional(v.string()),
});

export type LeaderStatus = Readonly<v.InferOutput<typeof status>>;

export function parseLeaderStatus(value: unknown): LeaderStatus {
  return readAnswer(status, value);
}
