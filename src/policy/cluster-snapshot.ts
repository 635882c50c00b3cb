/** The snapshot of the cluster, put together from what its parts have told. */
import { STATUSES, type Beat } from '../domain/beat.ts';
import type { ClusterFacts } from '../domain/cluster-facts.ts';
import { ROLES } from '../domain/role.ts';
import type { Snapshot, WorkerSnapshot } from '../domain/snapshot.ts';
import type { TallySums } from '../domain/tally.ts';
import type { CountRecord } from './counters.ts';
import { sumNamed } from './tally.ts';

/** What a worker said of itself just now. */
export interface LoadNow {
  readonly running: number;
  readonly slots?: number | undefined;
  readonly slotsNow?: number | undefined;
  readonly starved?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly limitedBy?: readonly string[] | undefined;
}

export interface SnapshotParts {
  readonly at: number; // epoch ms
  readonly counts: CountRecord;
  readonly tally: TallySums;
  readonly queue: {
    readonly lanes: Snapshot['queue']['lanes'];
    readonly ready: number;
    readonly running: number;
    /** Messages in all: also those that no lane knows. */
    readonly stored: number;
    readonly oldestReadyAt?: number | undefined;
  };
  readonly intake: number;
  readonly runs: Snapshot['runs'];
  readonly beats: readonly Beat[];
  readonly loads: ReadonlyMap<string, LoadNow>;
  readonly recent: Snapshot['recent'];
  readonly egress: Snapshot['egress'] | undefined;
  readonly workersDesired?: number | undefined;
}

const NO_EGRESS: Snapshot['egress'] = { proxies: {}, sessions: {}, leases: 0, hosts: 0, hostsClosed: 0 };

export function buildSnapshot(parts: SnapshotParts): Snapshot {
  const { at, queue, runs, recent, workersDesired } = parts;
  const { lanes, ready, running, stored, oldestReadyAt } = queue;
  return {
    at,
    totals: totalsOf(parts),
    queue: {
      lanes,
      ready,
      running,
      // What no lane knows waits for its time.
      delayed: Math.max(0, stored - ready - running),
      intake: parts.intake,
      ...(oldestReadyAt !== undefined && { oldestReadyMs: Math.max(0, at - oldestReadyAt) }),
    },
    runs,
    workers: parts.beats.filter(isWorker).map((beat) => describeWorker(beat, parts.loads.get(beat.id))),
    recent,
    egress: parts.egress ?? NO_EGRESS,
    ...(workersDesired !== undefined && { workersDesired }),
  };
}

function totalsOf({ counts, tally }: SnapshotParts): Snapshot['totals'] {
  return {
    ...counts,
    // Whatever is read from a submission is accepted, known, or refused.
    submitted: counts.accepted + counts.duplicates + tally.refused,
    retried: sumNamed(tally.retried),
    deferred: { ...tally.deferred },
    bytes: tally.bytes,
    pages: sumNamed(tally.pages),
  };
}

export function isWorker({ role, status }: Beat): boolean {
  return role === 'worker' && status !== 'stopped';
}

/** Its own word of this moment, or else that of its last heartbeat. */
export function describeWorker(beat: Beat, load: LoadNow | undefined): WorkerSnapshot {
  const slots = beat.limits['concurrency'] ?? load?.slots ?? 0;
  return {
    id: beat.id,
    host: beat.host,
    status: beat.status,
    paused: beat.paused,
    startedAt: beat.startedAt,
    slots,
    slotsNow: load?.slotsNow ?? beat.slotsNow ?? slots,
    busy: load?.running ?? beat.inFlight,
    starved: load?.starved ?? beat.starved ?? 0,
    memoryBytes: load?.memoryBytes ?? beat.memoryBytes ?? 0,
    loopDelayMs: beat.loopDelayMs ?? 0,
    limitedBy: [...(load?.limitedBy ?? beat.limitedBy ?? [])],
  };
}

export function countActors(beats: readonly Beat[]): ClusterFacts['actors'] {
  return ROLES.flatMap((role) =>
    STATUSES.map((status) => ({
      role,
      status,
      count: beats.filter((beat) => beat.role === role && beat.status === status).length,
    })),
  );
}
