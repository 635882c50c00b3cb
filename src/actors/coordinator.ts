/**
 * Coordinator: n copies, one leads. Each of them takes submissions in. The leader also keeps the runs, and follows the
 * heartbeats and tells the cluster who came, left or was lost, because nobody else looks at a record that merely
 * stops changing.
 */
import type { Beat } from '../domain/beat.ts';
import { decideActorEvent, type ActorEvent } from '../policy/actor-event.ts';
import { untilAborted, type Actor, type Stop } from '../runtime/actor.ts';
import type { Log } from '../telemetry/log.ts';
import type { Intake } from '../wire/intake.ts';
import { createIntakeLoop } from './coordinator/intake-loop.ts';
import type { CheckInput, Ledger, RunNews, Runs, TaskQueue } from './coordinator/ports.ts';
import { createRunKeeper, type RunKeeperLimits, type RunTerm } from './coordinator/run-keeper.ts';
import type { RunTable } from './coordinator/run-table.ts';
import { createTakeIn } from './coordinator/take-in.ts';
import { createTally } from './coordinator/tally.ts';
import { createWatermark } from './coordinator/watermark.ts';

export interface BeatChange {
  readonly key: string;
  readonly beat: Beat | undefined; // gone: it expired, or was removed
}

export interface CoordinatorPorts {
  /** Campaigns until `quiet`, and runs `work` in each term. */
  readonly lead: (quiet: AbortSignal, work: (term: RunTerm) => Promise<void>) => Promise<void>;
  /** Calls back with the beats that are there, then with each change, until the signal aborts. */
  watchBeats(listener: (change: BeatChange) => void, signal: AbortSignal): Promise<void>;
  announce(event: ActorEvent): void;
  announceRun(news: RunNews): void;
  readonly intake: Intake;
  readonly ledger: Ledger;
  readonly queue: TaskQueue;
  readonly runs: Pick<Runs, 'change'>;
  readonly table: RunTable;
  readonly checkInput?: CheckInput | undefined;
  readonly log: Log;
}

export interface CoordinatorLimits extends RunKeeperLimits {
  /** Tasks in the queue beyond which nothing more is taken in. */
  readonly watermark: number;
  readonly watermarkEveryMs: number;
}

export function createCoordinator(ports: CoordinatorPorts, limits: CoordinatorLimits): Actor {
  const { intake, ledger, queue, runs, table, log } = ports;
  const tally = createTally({ change: (id, change) => runs.change(id, change), log });
  const loop = createIntakeLoop({
    intake,
    takeIn: createTakeIn({
      ledger,
      queue,
      intake,
      ensureRun: (draft) => table.ensure(draft),
      checkInput: ports.checkInput,
    }),
    watermark: createWatermark({
      size: () => queue.size(),
      limit: limits.watermark,
      everyMs: limits.watermarkEveryMs,
    }),
    taken: (message) => tally.note(message),
    log,
  });
  let strays: ReadonlySet<string> = new Set();
  const keepRuns = createRunKeeper(
    {
      table,
      intake,
      ledger,
      announce: (news) => ports.announceRun(news),
      takeFrom(found) {
        strays = found;
        chooseSources();
      },
      now: Date.now,
      log,
    },
    limits,
  );

  return {
    role: 'coordinator',
    async run(stop) {
      const forget = table.onChange(chooseSources);
      try {
        await Promise.all([
          table.follow(stop.quiet),
          takeIn(stop),
          ports.lead(stop.quiet, async (term) => {
            await Promise.all([followBeats(term.over), keepRuns(term)]);
          }),
        ]);
      } finally {
        forget();
      }
    },
  };

  async function takeIn(stop: Stop): Promise<void> {
    await loop.run(stop);
    await tally.close();
  }

  function chooseSources(): void {
    const active = table.all().filter((run) => run.state === 'active' && !run.standing);
    loop.feedFrom(new Set([...active.map(({ id }) => id), ...strays]));
  }

  async function followBeats(over: AbortSignal): Promise<void> {
    const known = new Map<string, Beat>();
    await ports.watchBeats(({ key, beat }) => {
      const event = decideActorEvent(known.get(key), beat);
      if (beat) known.set(key, beat);
      else known.delete(key);
      if (event) ports.announce(event);
    }, over);
    await untilAborted(over);
  }
}
