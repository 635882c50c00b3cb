/** What the exporter knows, made by hand. */
import type { Beat } from '../../src/domain/beat.ts';
import type { ClusterFacts } from '../../src/domain/cluster-facts.ts';
import { NO_HOST, NO_TALLY } from '../../src/domain/tally.ts';
import { buildSnapshot, countActors, type SnapshotParts } from '../../src/policy/cluster-snapshot.ts';
import { NO_COUNTS } from '../../src/policy/counters.ts';

export function makeBeat(changes: Partial<Beat> = {}): Beat {
  return {
    id: 'w1',
    role: 'worker',
    host: 'machine',
    place: 'here',
    pid: 1,
    version: '0.0.0',
    startedAt: 1,
    beatAt: 2,
    status: 'running',
    paused: false,
    inFlight: 0,
    limits: {},
    ...changes,
  };
}

export function makeFacts(
  parts: Partial<SnapshotParts> = {},
  changes: Partial<ClusterFacts> = {},
): ClusterFacts {
  const whole: SnapshotParts = {
    at: 10_000,
    counts: NO_COUNTS,
    tally: NO_TALLY,
    queue: { lanes: [{ priority: 0, ready: 0, running: 0 }], ready: 0, running: 0, stored: 0 },
    intake: 0,
    runs: { queued: 0, active: 0, paused: 0 },
    beats: [],
    loads: new Map(),
    recent: { seconds: 0, done: 0, dead: 0, failed: 0 },
    egress: undefined,
    ...parts,
  };
  return {
    snapshot: buildSnapshot(whole),
    tally: whole.tally,
    hosts: new Map([['other', NO_HOST]]),
    actors: countActors(whole.beats),
    streams: [],
    leaders: [],
    egressKnown: whole.egress !== undefined,
    ms: 3,
    ...changes,
  };
}
