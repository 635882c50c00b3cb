/** Snapshots of clusters that do not exist. */
import type { Snapshot, WorkerSnapshot } from '../../src/domain/snapshot.ts';

export function makeSnapshot(changes: Partial<Snapshot>): Snapshot {
  return {
    at: 1_000,
    totals: {
      submitted: 0,
      accepted: 0,
      duplicates: 0,
      done: 0,
      dead: 0,
      cancelled: 0,
      redriven: 0,
      items: 0,
      retried: 0,
      deferred: {},
      bytes: 0,
      pages: 0,
    },
    queue: { lanes: [], ready: 0, running: 0, delayed: 0, intake: 0 },
    runs: { queued: 0, active: 0, paused: 0 },
    workers: [],
    recent: { seconds: 60, done: 0, dead: 0, failed: 0 },
    egress: { proxies: {}, sessions: {}, leases: 0, hosts: 0, hostsClosed: 0 },
    ...changes,
  };
}

export function makeWorker(changes: Partial<WorkerSnapshot> & { id: string }): WorkerSnapshot {
  return {
    host: 'here',
    status: 'running',
    paused: false,
    startedAt: 1,
    slots: 3,
    slotsNow: 3,
    busy: 0,
    starved: 0,
    memoryBytes: 0,
    loopDelayMs: 0,
    limitedBy: [],
    ...changes,
  };
}
