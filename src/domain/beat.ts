/** The heartbeat record of one actor: who it is, where it lives and how it is. Written whole at every beat. */
import * as v from 'valibot';
import { Failure } from './failure.ts';
import { ROLES } from './role.ts';

/** A clean life goes through these in order; a death can come after any. */
export const STATUSES = ['initializing', 'running', 'draining', 'stopped'] as const;
export type Status = (typeof STATUSES)[number];

const name = v.pipe(v.string(), v.minLength(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const epochMs = count;

const beatSchema = v.object({
  id: name,
  role: v.picklist(ROLES),
  host: name,
  /** The pid namespace it lives in: only there does its pid mean anything. */
  place: name,
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  version: name,
  startedAt: epochMs,
  beatAt: epochMs,
  status: v.picklist(STATUSES),
  paused: v.boolean(),
  inFlight: count,
  limits: v.record(v.string(), v.number()),
  /** Where it answers for health and metrics. */
  http: v.optional(v.string()),
  loopDelayMs: v.optional(v.pipe(v.number(), v.minValue(0))),
  /** The scrapers that a worker has loaded. */
  scrapers: v.optional(v.array(v.string())),
  /** Of the whole process. */
  memoryBytes: v.optional(count),
  /** Of one core. */
  cpuPercent: v.optional(v.pipe(v.number(), v.minValue(0))),
  /** Tasks that a worker allows itself at once; fewer than its settings under pressure. */
  slotsNow: v.optional(count),
  /** Tasks in hand that wait for egress. */
  starved: v.optional(count),
  /** What presses. */
  limitedBy: v.optional(v.array(v.string())),
});

export type Beat = Readonly<v.InferOutput<typeof beatSchema>>;

/** What an actor may change about itself; the rest is its identity. */
export type BeatPatch = Partial<
  Pick<
    Beat,
    | 'status'
    | 'paused'
    | 'inFlight'
    | 'limits'
    | 'http'
    | 'loopDelayMs'
    | 'scrapers'
    | 'memoryBytes'
    | 'cpuPercent'
    | 'slotsNow'
    | 'starved'
    | 'limitedBy'
  >
>;

/** Fields that a newer version added are left out; a record that lacks ours is INVALID. */
export function parseBeat(value: unknown): Beat {
  const result = v.safeParse(beatSchema, value);
  if (result.success) return result.output;
  const problems = result.issues.map((issue) => `${v.getDotPath(issue) ?? 'the record'}: ${issue.message}`);
  throw new Failure('INVALID', `not a heartbeat record: ${problems.join('; ')}`);
}
