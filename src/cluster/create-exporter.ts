/** An exporter, with its ports fitted to the NATS adapters. */
import { setTimeout as delay } from 'node:timers/promises';
import { createExporter, EXPORTER_DEFAULTS, type ExporterPorts } from '../actors/exporter.ts';
import type { Beat } from '../domain/beat.ts';
import type { ClusterFacts } from '../domain/cluster-facts.ts';
import { Failure } from '../domain/failure.ts';
import { watchBeats } from '../nats/beats.ts';
import { createClusterLook } from '../nats/cluster-look.ts';
import { watchGoneRuns } from '../nats/gone-runs.ts';
import { createLedgerReader } from '../nats/ledger-reader.ts';
import type { WorkerLoad } from '../nats/load-survey.ts';
import { createRuns } from '../nats/runs.ts';
import { openServiceDesk } from '../nats/service-desk.ts';
import { listSinks, type SinkView } from '../nats/sinks.ts';
import { watchTallies, type TallyWatch } from '../nats/tally-watch.ts';
import { buildSnapshot, countActors, isWorker } from '../policy/cluster-snapshot.ts';
import { createSamples } from '../policy/recent.ts';
import { createRunTotals } from '../policy/run-totals.ts';
import { createShownHosts } from '../policy/shown-hosts.ts';
import { createOpening, type Actor } from '../runtime/actor.ts';
import { createSinkGauges } from '../telemetry/sink-metrics.ts';
import { VERSION } from '../version.ts';
import type { ActorParts } from './roles.ts';

const SINKS_MAX_MS = 2_000;
const HEARD_MAX_MS = 10_000;

export function createClusterExporter(parts: ActorParts): Actor {
  const { connection, names, registry } = parts;
  createSinkGauges(registry, () => readSinks(parts));
  const exporter = createExporter(createPorts(parts), {
    ...EXPORTER_DEFAULTS,
    freshMs: parts.config.metrics.fresh,
  });
  const { opened, open } = createOpening();
  return {
    ...exporter,
    opened,
    async run(stop) {
      const close = await openServiceDesk(connection, {
        names,
        version: VERSION,
        verbs: { snapshot: () => exporter.snapshot() },
        desk: { name: 'snapshot', description: 'What any exporter answers', queue: 'exporters' },
      });
      open();
      try {
        await exporter.run(stop);
      } finally {
        if (!connection.nc.isClosed()) await close();
      }
    },
  };
}

/** A page that is asked for while NATS does not answer tells what is known without it. */
function readSinks({ connection, names, bucket }: ActorParts): Promise<SinkView[]> {
  if (!connection.isUp()) return Promise.resolve([]);
  const late = delay(SINKS_MAX_MS, [] as SinkView[], { ref: false });
  const found = listSinks({ connection, names, bucket }).catch((): SinkView[] => []);
  return Promise.race([found, late]);
}

function createPorts({ config, connection, names, bucket, log }: ActorParts): ExporterPorts {
  const beats = new Map<string, Beat>();
  const runs = createRunTotals();
  const samples = createSamples();
  const shownHosts = createShownHosts(config.metrics.hosts);
  const reader = createLedgerReader(connection, names);
  const lookAtCluster = createClusterLook({ connection, names, bucket });
  /** Workers that did not answer, by the heartbeat they had then: nobody waits for them again before the next. */
  const silent = new Map<string, number>();
  /** What workers said last: one that is too busy to answer is as it was a moment ago. */
  const heard = new Map<string, { readonly at: number; readonly load: WorkerLoad }>();
  let tallies: TallyWatch | undefined;

  return {
    async begin({ abort: signal }) {
      [tallies] = await Promise.all([
        watchTallies(bucket, { log, signal }),
        watchBeats(bucket, { log, signal }, ({ key, beat }) => {
          if (beat) beats.set(key, beat);
          else beats.delete(key);
        }),
        createRuns(bucket, { log }).watch((id, found) => runs.hear(id, found?.run), signal),
        watchGoneRuns(bucket, { log, signal }, (gone) => runs.hearGone(gone)),
      ]);
    },
    look,
    beats: () => [...beats.values()],
    now: () => performance.now(),
    log,
  };

  async function look(): Promise<ClusterFacts> {
    if (!connection.isUp() || !tallies) throw new Failure('UNAVAILABLE', 'not connected to NATS');
    const began = performance.now();
    const workers = [...beats.values()].filter(isWorker);
    const asked = workers.filter(({ id, beatAt, status }) => {
      return status !== 'initializing' && silent.get(id) !== beatAt;
    });
    const [found, counted] = await Promise.all([
      lookAtCluster(asked.map(({ id }) => id)),
      reader.countsOfMany(runs.toRead()),
    ]);
    runs.read(counted);
    noteSilence(asked, found.loads);
    const counts = runs.sum();
    const tally = tallies.sum();
    const at = Date.now();
    const now = performance.now();
    return {
      snapshot: buildSnapshot({
        at,
        counts,
        tally,
        queue: found.queue,
        intake: found.streams.find(({ stream }) => stream === 'INTAKE')?.messages ?? 0,
        runs: runs.byState(),
        beats: [...beats.values()],
        loads: lately(found.loads, now),
        recent: samples.add({ atMs: now, counts, tally }),
        egress: found.egress,
        workersDesired: found.scale?.desired,
      }),
      tally,
      hosts: shownHosts.update(tally, now),
      actors: countActors([...beats.values()]),
      streams: found.streams,
      leaders: found.leaders,
      egressKnown: found.egress !== undefined,
      decisions: found.scale?.decisions,
      ms: now - began,
    };
  }

  function lately(answered: ReadonlyMap<string, WorkerLoad>, now: number): ReadonlyMap<string, WorkerLoad> {
    for (const [id, load] of answered) heard.set(id, { at: now, load });
    for (const [id, { at }] of heard) if (now - at > HEARD_MAX_MS) heard.delete(id);
    return new Map([...heard].map(([id, { load }]) => [id, load]));
  }

  function noteSilence(asked: readonly Beat[], answered: ReadonlyMap<string, unknown>): void {
    for (const { id, beatAt } of asked) {
      if (answered.has(id)) silent.delete(id);
      else silent.set(id, beatAt);
    }
    for (const id of silent.keys())
      if (![...beats.values()].some((beat) => beat.id === id)) silent.delete(id);
  }
}
