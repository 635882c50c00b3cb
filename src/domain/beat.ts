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
  /** It was told to work for these alone: what others lack is none of its business. */
  only: v.optional(v.boolean()),
  memoryBytes: v.optional(count), // resident
  /** Of one core, since the last beat. */
  cpuPercent: v.optional(v.pipe(v.number(), v.minValue(0))),
  /** Tasks that a worker lets itself run at once; `limits.concurrency` is what its settings say. */
  slotsNow: v.optional(count),
  /** Of those in flight, the ones that wait for leave to send a request. */
  starved: v.optional(count),
  /** What makes it take less than its settings say. */
  limitedBy: v.optional(v.array(v.string())),
});

export type Beat = Readonly<v.InferOutput<typeof beatSchema>>;

/** A worker that has said which scrapers it has, or is about to run them; one that drains leaves them to others. */
export function scrapersOf(beat: Beat | undefined): readonly string[] | undefined {
  return isWorkerToBe(beat) ? beat?.scrapers : undefined;
}

/** A worker that takes tasks, or will. */
export function isWorkerToBe(beat: Beat | undefined): boolean {
  return beat?.role === 'worker' && (beat.status === 'running' || beat.status === 'initializing');
}

/** How it is, as it finds out about itself. */
export type Vitals = Partial<Pick<Beat, 'memoryBytes' | 'cpuPercent' | 'slotsNow' | 'starved' | 'limitedBy'>>;

/** What an actor may change about itself; the rest is its identity. */
export type BeatPatch = Partial<
  Pick<
    Beat,
    'status' | 'paused' | 'inFlight' | 'limits' | 'http' | 'loopDelayMs' | 'scrapers' | 'only' | keyof Vitals
  >
>;

/** Fields that a newer version added are left out; a record that lacks ours is INVALID. */
export function parseBeat(value: unknown): Beat {
  const result = v.safeParse(beatSchema, value);
  if (result.success) return result.output;
  const problems = result.issues.map((issue) => `${v.getDotPath(issue) ?? 'the record'}: ${issue.message}`);
  throw new Failure('INVALID', `not a heartbeat record: ${problems.join('; ')}`);
}
