/**
 * How the whole cluster is at one moment, as the exporter tells it: what `/snapshot` answers, what Prometheus gets as
 * metrics, and what the autoscaler decides by. Totals only grow, also when actors die; everything else is of now.
 */
import * as v from 'valibot';
import { Failure } from './failure.ts';
import { STATUSES } from './beat.ts';

const amount = v.pipe(v.number(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const byName = v.record(v.string(), count);

const lane = v.object({ priority: count, ready: count, running: count });

const worker = v.object({
  id: v.string(),
  host: v.string(),
  status: v.picklist(STATUSES),
  paused: v.boolean(),
  startedAt: count, // epoch ms
  /** Tasks that it may run at once, by its settings. */
  slots: count,
  /** What it allows itself at the moment: fewer under pressure. */
  slotsNow: count,
  busy: count,
  /** Busy ones that wait for leave from the proxy-manager: they work for nobody. */
  starved: count,
  memoryBytes: amount,
  loopDelayMs: amount,
  /** What makes it take less than its slots. */
  limitedBy: v.array(v.string()),
});

const snapshotSchema = v.object({
  at: count, // epoch ms
  /** Since the cluster was made. */
  totals: v.object({
    submitted: count,
    accepted: count,
    duplicates: count,
    done: count,
    dead: count,
    cancelled: count,
    redriven: count,
    items: count,
    retried: count,
    /** By reason. */
    deferred: byName,
    bytes: count,
    pages: count,
  }),
  queue: v.object({
    lanes: v.array(lane),
    /** In all lanes, not yet delivered to a worker. */
    ready: count,
    /** In all lanes, delivered and not yet settled. */
    running: count,
    /** Waiting for their time (a retry, a deferral), or held back: no load. */
    delayed: count,
    /** Submissions that no coordinator has taken in yet. */
    intake: count,
    oldestReadyMs: v.optional(amount),
  }),
  runs: v.object({ queued: count, active: count, paused: count }),
  workers: v.array(worker),
  /** Of the last minute or so. */
  recent: v.object({
    seconds: amount,
    done: amount,
    dead: amount,
    /** Attempts that failed. */
    failed: amount,
    /** Mean time from start to outcome of an attempt; absent when there was none. */
    taskMs: v.optional(amount),
    waitMs: v.optional(amount),
  }),
  egress: v.object({
    proxies: byName,
    sessions: byName,
    leases: count,
    hosts: count,
    hostsClosed: count,
  }),
  /** What the autoscaler wants, where one has decided. */
  workersDesired: v.optional(count),
});

export type Snapshot = Readonly<v.InferOutput<typeof snapshotSchema>>;
export type WorkerSnapshot = Readonly<Snapshot['workers'][number]>;

/** Fields that a newer version added are left out; one that lacks ours is INVALID. */
export function parseSnapshot(value: unknown): Snapshot {
  const result = v.safeParse(snapshotSchema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Failure('INVALID', `not a snapshot: ${v.getDotPath(issue) ?? 'the document'}: ${issue.message}`);
}
