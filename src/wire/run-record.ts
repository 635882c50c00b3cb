/** A run: one list of tasks of one scraper, with a beginning and an end. JSON in the `cluster` bucket: people look at it. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import { decode, encodeJson } from './codec.ts';

const name = v.pipe(v.string(), v.minLength(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const runRecord = v.object({
  id: name,
  scraper: name,
  state: v.picklist(['queued', 'active', 'paused', 'done', 'done_with_errors', 'cancelled']),
  /** What a paused run goes back to. */
  pausedFrom: v.exactOptional(v.picklist(['queued', 'active'])),
  /** Higher goes first among the queued runs of a scraper. */
  priority: count,
  createdAt: count, // epoch ms
  startedAt: v.exactOptional(count),
  endedAt: v.exactOptional(count),
  /** The last time that something was submitted to it, to a second or so. */
  lastSubmitAt: count,
  /** Nothing more will be submitted: so many intake messages there were. Absent while it is open. */
  sealed: v.exactOptional(v.object({ messages: count })),
  /** Intake messages taken in so far. */
  taken: count,
  /** Never ends: what is submitted without a run. */
  standing: v.boolean(),
  /** Its counters, once it has ended. */
  final: v.exactOptional(v.record(v.string(), v.number())),
});

export type RunRecord = Readonly<v.InferOutput<typeof runRecord>>;

export const encodeRun = (run: RunRecord): Uint8Array => encodeJson(run);

export function decodeRun(bytes: Uint8Array): RunRecord {
  const parsed = v.safeParse(runRecord, decode(bytes));
  if (parsed.success) return parsed.output;
  throw new Failure('INVALID', `not a run: ${parsed.issues[0].message}`);
}
