/** A coordinator as the configuration wants it: intake and runs, schedules, housekeeping, and every service it answers. */
import { createHousekeeping, type Housekeeping } from '../actors/coordinator/housekeeping.ts';
import { keepLanes } from '../actors/coordinator/lane-keeper.ts';
import { keepParked } from '../actors/coordinator/parked-keeper.ts';
import { createScheduleLoop } from '../actors/coordinator/schedule-loop.ts';
import type { Beat } from '../domain/beat.ts';
import { cancelLeft } from '../nats/cancel-left.ts';
import { eraseRun } from '../nats/erase-run.ts';
import { giveBackTasksOf } from '../nats/give-back.ts';
import { runAsLeader } from '../nats/leader.ts';
import { createOwnLanes } from '../nats/own-lanes.ts';
import { createPauses, watchPauses, type PauseWatch } from '../nats/pauses.ts';
import { purgeWork } from '../nats/purge-work.ts';
import { createRedriveNotes } from '../nats/redrive-notes.ts';
import { loadRoutes, storeRoutes } from '../nats/routes.ts';
import { createScheduleDue } from '../nats/schedule-due.ts';
import { createSchedules } from '../nats/schedules.ts';
import { shareBeats, type FollowBeats } from '../nats/shared-beats.ts';
import { findLostLife } from '../policy/actor-event.ts';
import { countTasks, finalCounts } from '../policy/counters.ts';
import { createOpening, followStop, type Actor, type Stop } from '../runtime/actor.ts';
import { createRedrive, type Redrive } from '../services/redrive.ts';
import { createScheduleServices } from '../services/schedules.ts';
import {
  COORDINATOR_DEFAULTS,
  createCoordinatorActor,
  type CoordinatorSurroundings,
  type CoordinatorTools,
} from './coordinator-parts.ts';
import { createSteeringVerbs } from './coordinator-verbs.ts';
import { keepPast } from './keep-past.ts';
import { loadInputCheck } from './load-scrapers.ts';

const HOUSEKEEPING_EVERY_MS = 500;
const MAX_PAYLOAD_BYTES = 1_048_576;

/** What it does beside taking submissions in is no less its work: when that fails, the actor ends and is started again. */
export function createClusterCoordinator(parts: CoordinatorSurroundings): Actor {
  const { opened, open } = createOpening();
  return {
    role: 'coordinator',
    opened,
    async run(stop) {
      const own = followStop(stop, parts.config.actor.grace);
      try {
        await runAll(own.stop, () => own.quiet());
      } finally {
        own.abort();
        own.settled();
      }
    },
  };

  async function runAll(stop: Stop, failed: () => void): Promise<void> {
    const { runs, tasks } = parts.config;
    const watched = await watchPauses(parts.bucket, stop.abort);
    const followBeats = shareBeats(parts.bucket, { log: parts.log, signal: stop.abort });
    const side = createSideWork(parts, { watched, followBeats, failed });
    const checkInput = await loadInputCheck(parts.config, parts.log);
    const coordinator = createCoordinatorActor(
      { ...parts, checkInput, followBeats },
      {
        open,
        limits: {
          ...COORDINATOR_DEFAULTS,
          promotion: { maxActivePerScraper: runs.maxActivePerScraper, maxActive: runs.maxActive },
          runEnd: { idleEndMs: runs.idleEnd },
          watermark: tasks.watermark,
        },
        verbs: (tools) => ({
          ...side.begin(tools, stop.quiet),
        }),
      },
    );
    await coordinator.run(stop);
    await side.end();
  }
}

type Verbs = ReturnType<typeof createScheduleServices>;

interface SideParts {
  readonly watched: PauseWatch;
  readonly followBeats: FollowBeats;
  /** It cannot go on; `end` tells why. */
  readonly failed: () => void;
}

/** What a coordinator does beside taking submissions in: fires schedules, and keeps house when it is the one to. */
function createSideWork(
  parts: CoordinatorSurroundings,
  { watched, followBeats, failed }: SideParts,
): {
  begin(tools: CoordinatorTools, quiet: AbortSignal): Verbs;
  end(): Promise<void>;
} {
  const { connection, names, bucket, log, announce } = parts;
  let work: Promise<unknown> = Promise.resolve();
  return {
    begin(tools, quiet) {
      const schedules = createSchedules(connection, { bucket, names });
      const due = createScheduleDue(connection, names);
      const loop = createScheduleLoop({
        schedules,
        dueMessages: (signal) => due.messages(signal),
        submit: (submission) => due.submit(submission),
        runs: tools.runs,
        announce: ({ kind, ...facts }) => announce({ about: 'schedule', kind, facts }),
        now: Date.now,
        random: Math.random,
        log,
      });
      const notes = createRedriveNotes(bucket);
      const redrive = createRedrive({ ...tools, notes, now: Date.now });
      const house = createHousekeeper(parts, tools, redrive);
      const keep = (over: AbortSignal): Promise<unknown> =>
        Promise.all([
          house.run(over),
          loop.leaderDuties(over),
          followLosses(followBeats, house, over),
          keepPast({ ...parts, followBeats }, over),
          keepLanes(
            {
              watchBeats: followBeats,
              load: () => loadRoutes(bucket),
              store: (record) => storeRoutes(bucket, record),
              lanes: createOwnLanes(connection, names),
              log,
            },
            over,
          ),
          keepParked(
            {
              release: (...args) => tools.queue.release(...args),
              isHeld: (spec) => watched.of(spec) !== undefined,
              lifted: () => watched.lifted(),
              onLifted: (listener) => watched.onLifted(listener),
              log,
            },
            over,
          ),
        ]);
      work = Promise.all([loop.run(quiet), leadHouse(parts, quiet, keep)]).finally(() => due.close());
      work.catch(failed);
      const scheduleVerbs = createScheduleServices({
        schedules,
        loop,
        messageMaxBytes: () => connection.nc.info?.max_payload ?? MAX_PAYLOAD_BYTES,
        now: Date.now,
      });
      return { ...createSteeringVerbs(parts, tools, { watched, redrive }), ...scheduleVerbs };
    },
    async end() {
      await work;
    },
  };
}

/** One coordinator keeps house; not always the one that keeps the runs. */
function leadHouse(
  { bucket, config, id, log }: CoordinatorSurroundings,
  quiet: AbortSignal,
  keep: (over: AbortSignal) => Promise<unknown>,
): Promise<void> {
  return runAsLeader({
    bucket,
    name: 'housekeeper',
    ttlMs: config.leader.ttl,
    owner: id,
    log,
    quiet,
    lead: async (_term, over) => {
      await keep(over);
    },
  });
}

function createHousekeeper(
  { config, connection, names, bucket, log }: CoordinatorSurroundings,
  tools: CoordinatorTools,
  redrive: Redrive,
): Housekeeping {
  const { runs, table, reader, writer } = tools;
  const pauses = createPauses(bucket);
  return createHousekeeping(
    {
      giveBackTasksOf: (life) => giveBackTasksOf(connection, bucket, life),
      runs: () => table.all(),
      onRuns: (listener) => table.onChange(listener),
      countOpen: async (run) => countTasks(await reader.counts(run)).open,
      cancelLeft: (run, over) => cancelLeft(connection, { names, writer }, { run, over }),
      async finish(run) {
        const final = finalCounts(await reader.counts(run));
        await runs.change(run, (record) => ({ ...record, final }));
        // What was put aside since the run was cleared would be tried once more when the flag goes, for nothing.
        await purgeWork(connection, names, { run });
        await pauses.resume('run', run);
      },
      finishRedrives: () => redrive.finishLeft(),
      erase: (run) => eraseRun(connection, { names, bucket }, run),
      now: Date.now,
      log,
    },
    { everyMs: HOUSEKEEPING_EVERY_MS, keepMs: config.runs.keep },
  );
}

async function followLosses(followBeats: FollowBeats, house: Housekeeping, over: AbortSignal): Promise<void> {
  const known = new Map<string, Beat>();
  await followBeats(({ key, beat }) => {
    const lost = findLostLife(known.get(key), beat);
    if (beat) known.set(key, beat);
    else known.delete(key);
    if (lost?.role === 'worker') house.workerLost(lost);
  }, over);
}
