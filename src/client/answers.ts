/** What coordinators answer, read: fields that are not known here pass through, so that a newer one may say more. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';

const count = v.number();
const counts = v.looseObject({
  total: count,
  queued: count,
  running: count,
  deferred: count,
  done: count,
  dead: count,
  cancelled: count,
  duplicates: count,
  remaining: count,
});
export type Counts = Readonly<v.InferOutput<typeof counts>>;

const run = v.looseObject({
  id: v.string(),
  scraper: v.string(),
  state: v.picklist(['queued', 'active', 'paused', 'done', 'done_with_errors', 'cancelled']),
  priority: count,
  createdAt: count,
  startedAt: v.exactOptional(count),
  endedAt: v.exactOptional(count),
  standing: v.boolean(),
  sealed: v.exactOptional(v.looseObject({ messages: count })),
  taken: v.exactOptional(count),
});
const runWithCounts = v.looseObject({ ...run.entries, counts });
export type RunSummary = Readonly<v.InferOutput<typeof runWithCounts>>;

const fault = v.looseObject({ code: v.string(), message: v.string() });
/** A task as JSON for people. */
const view = v.looseObject({ id: v.string(), run: v.string(), task: v.exactOptional(v.looseObject({})) });
export type TaskView = Readonly<v.InferOutput<typeof view>>;

export const answers = {
  run,
  runWithCounts,
  runs: v.looseObject({ runs: v.array(runWithCounts) }),
  removed: v.looseObject({ removed: count }),
  submitted: v.looseObject({
    run: v.string(),
    tasks: v.array(v.looseObject({ id: v.string(), duplicate: v.boolean() })),
    problems: v.optional(v.array(v.looseObject({ index: count, reason: v.string() })), []),
  }),
  stats: v.looseObject({ ...counts.entries, workers: v.looseObject({ active: count, total: count }) }),
  taskCancelled: v.looseObject({ cancelled: v.boolean(), state: v.string() }),
  paused: v.looseObject({ paused: v.array(v.unknown()) }),
  why: v.looseObject({
    where: v.string(),
    explanation: v.array(v.string()),
    faults: v.optional(v.array(fault), []),
  }),
  dead: v.looseObject({
    count,
    groups: v.array(v.looseObject({ code: v.string(), message: v.string(), count })),
    tasks: v.array(view),
  }),
  call: v.looseObject({
    state: v.picklist(['done', 'failed']),
    worker: v.string(),
    items: v.array(v.unknown()),
    data: v.optional(v.unknown()),
    error: v.optional(fault),
    ms: count,
    passedOver: v.array(v.looseObject({ worker: v.string(), reason: v.string() })),
  }),
  changed: v.looseObject({ matched: count, changed: count }),
  applied: v.looseObject({ name: v.string(), change: v.picklist(['created', 'updated', 'unchanged']) }),
  schedules: v.looseObject({ schedules: v.array(v.looseObject({ name: v.string(), scraper: v.string() })) }),
  anything: v.unknown(),
} as const;

export type CallResult = Readonly<v.InferOutput<typeof answers.call>>;
export type Stats = Readonly<v.InferOutput<typeof answers.stats>>;

export function readAnswer<Schema extends v.GenericSchema>(
  schema: Schema,
  answer: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, answer);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Failure(
    'INTERNAL',
    `the coordinator's answer cannot be read: ${v.getDotPath(issue) ?? 'the whole'}: ${issue.message}`,
    { hint: 'If the cluster runs another version of Trawl, use that one.' },
  );
}
