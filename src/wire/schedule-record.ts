/** A schedule as the cluster keeps it. JSON in the `cluster` bucket: people look at it. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import { decode, encodeJson } from './codec.ts';

const time = v.pipe(v.number(), v.integer(), v.minValue(0)); // epoch ms

const scheduleRecord = v.object({
  /** As it was given; read anew each time, by the rules of whoever reads it. */
  definition: v.record(v.string(), v.unknown()),
  createdAt: time,
  /** When it was made, replaced or resumed: times up to this one are none of its own. */
  since: time,
  /** The planned time that was dealt with last: submitted in full, or skipped. */
  lastDueAt: v.exactOptional(time),
  paused: v.boolean(),
  /**
   * Decided, and not known to be submitted in full. It is written before anything is done, so that of two coordinators
   * one decides; whoever finds it carries it out.
   */
  firing: v.exactOptional(
    v.object({ dueAt: time, run: v.pipe(v.string(), v.minLength(1)), startAt: time, reason: v.string() }),
  ),
});

export type ScheduleRecord = Readonly<v.InferOutput<typeof scheduleRecord>>;
export type PendingFiring = Readonly<NonNullable<ScheduleRecord['firing']>>;

export const scheduleKey = (name: string): string => `schedule.${name}`;
export const ALL_SCHEDULES = 'schedule.*';

export const encodeSchedule = (record: ScheduleRecord): Uint8Array => encodeJson(record);

export function decodeSchedule(bytes: Uint8Array): ScheduleRecord {
  const parsed = v.safeParse(scheduleRecord, decode(bytes));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Failure('INVALID', `not a schedule: ${v.getDotPath(issue) ?? 'the whole'}: ${issue.message}`);
}
