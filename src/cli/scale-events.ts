/** Decisions as the events keep them, read back. What does not read is left out: an older version may have written it. */
import * as v from 'valibot';
import { ACTIONS, type ScaleDecision } from '../policy/autoscale/decide.ts';
import type { Load } from '../policy/autoscale/load.ts';
import { SCALE_POLICIES } from '../domain/scale.ts';
import type { ScaleEvent } from '../nats/scale-history.ts';

const amount = v.pipe(v.number(), v.minValue(0));
const load = v.object({
  at: amount,
  ready: amount,
  running: amount,
  delayed: amount,
  starved: amount,
  queuedRuns: amount,
  live: amount,
  draining: amount,
  slots: v.optional(amount),
  busy: amount,
  taskMs: v.optional(amount),
  donePerSecond: amount,
  failedPerSecond: amount,
  accepted: v.optional(amount),
  settled: v.optional(amount),
  inflowPerSecond: v.optional(amount),
});
const guard = v.object({
  factors: v.array(v.string()),
  fits: v.optional(amount),
  fitsBy: v.optional(v.string()),
  most: v.optional(amount),
});
const decided = v.object({
  from: amount,
  to: amount,
  action: v.picklist(ACTIONS),
  reason: v.string(),
  policy: v.picklist(SCALE_POLICIES),
  limitedBy: v.array(v.string()),
  inputs: v.looseObject({ load: v.optional(load), guard: v.optional(guard) }),
  words: v.optional(v.string(), ''),
});

export interface Decided {
  readonly at: number; // epoch ms
  readonly decision: ScaleDecision;
  readonly words: string;
}

export function readDecisions(events: readonly ScaleEvent[]): Decided[] {
  return events.flatMap(({ at, kind, facts }) => {
    const read = kind === 'decided' ? v.safeParse(decided, facts) : undefined;
    if (!read?.success) return [];
    const { words, ...decision } = read.output;
    // A reason of a newer version is shown by its words.
    return [{ at, decision: decision as ScaleDecision, words }];
  });
}

export function readLoads(decisions: readonly Decided[]): Load[] {
  return decisions.flatMap(({ decision }) => (decision.inputs.load ? [decision.inputs.load] : []));
}
