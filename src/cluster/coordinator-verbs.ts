/** The services of a coordinator that steer tasks and runs: dead letters, cancelling, pausing, `why`, and calls. */
import { listBeats } from '../nats/beats.ts';
import { callWorker } from '../nats/call-worker.ts';
import { cancelCarried, readCarried } from '../nats/carried.ts';
import { tellCancelled, type Cancelled } from '../nats/cancel-news.ts';
import { eraseRun } from '../nats/erase-run.ts';
import { askLoad } from '../nats/load-survey.ts';
import { locateTask } from '../nats/locate-task.ts';
import type { Verb } from '../nats/mailbox.ts';
import { createPauses, type PauseWatch } from '../nats/pauses.ts';
import { purgeWork } from '../nats/purge-work.ts';
import { createCallServices } from '../services/call.ts';
import { createCancelServices } from '../services/cancel.ts';
import { createDeadServices } from '../services/dead.ts';
import { createPauseServices } from '../services/pause.ts';
import type { Redrive } from '../services/redrive.ts';
import { createRunControlServices } from '../services/run-control.ts';
import { createWhyServices } from '../services/why.ts';
import type { CoordinatorTools } from './coordinator-parts.ts';
import type { ActorParts } from './roles.ts';

export function createSteeringVerbs(
  {
    connection,
    names,
    bucket,
    log,
    config,
  }: Pick<ActorParts, 'connection' | 'names' | 'bucket' | 'log' | 'config'>,
  { runs, reader, writer }: CoordinatorTools,
  { watched, redrive }: { watched: PauseWatch; redrive: Redrive },
): Record<string, Verb> {
  const now = Date.now;
  const pauses = createPauses(bucket);
  return {
    ...createDeadServices({ reader, writer, redrive, findRun: (id) => runs.get(id), now }),
    ...createCancelServices({
      runs,
      reader,
      writer,
      holdBack: (run) => pauses.pause('run', run),
      log,
      async purge(what: Cancelled) {
        // What is taken out of the queue takes its history with it, so that is stored before.
        const { run, id } = what;
        const reason = 'its run was cancelled';
        if (id === undefined) await cancelCarried(connection, { names, writer }, { run, reason });
        await purgeWork(connection, names, what);
      },
      readCarried: (task) => readCarried(connection, names, task),
      broadcast: (what: Cancelled) => tellCancelled(connection, names, what),
      now,
    }),
    ...createPauseServices(pauses),
    ...createCallServices({
      beats: () => listBeats(bucket, log),
      loads: (workers) => askLoad(connection, names, workers),
      ask: (worker, body, limitMs) => callWorker(connection, names, { worker, body, limitMs }),
      liveness: { intervalMs: config.heartbeat.interval, deadAfterMs: config.heartbeat.deadAfter },
      now,
      random: Math.random,
    }),
    ...createRunControlServices({
      runs,
      pauses,
      erase: (run) => eraseRun(connection, { names, bucket }, run),
    }),
    ...createWhyServices({
      reader,
      runs,
      locate: (spec) => locateTask(connection, { names, bucket, pauses: watched, log }, spec),
      now,
    }),
  };
}
