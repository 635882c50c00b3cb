/**
 * What the leader clears up after others: the tasks of a worker that died, dead tasks that were half put back, the
 * open tasks of a cancelled run, and runs that ended long ago.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Beat } from '../../domain/beat.ts';
import { messageOf } from '../../domain/failure.ts';
import { createRest } from '../../runtime/rest.ts';
import type { Log } from '../../telemetry/log.ts';
import type { RunRecord } from '../../wire/run-record.ts';

export interface HousekeepingPorts {
  /** Gives back what the dead worker had in hand; how many tasks it was. */
  readonly giveBackTasksOf: (life: Beat) => Promise<number>;
  readonly runs: () => readonly RunRecord[];
  /** Calls when one of them has changed, come or gone; returns the undo. */
  readonly onRuns: (listener: () => void) => () => void;
  /** Tasks of a run without an outcome. */
  readonly countOpen: (run: string) => Promise<number>;
  /** Settles them as cancelled, and counts what nobody has counted. */
  readonly cancelLeft: (run: string, over: AbortSignal) => Promise<number>;
  /** Notes the final counts of a cancelled run, and that it needs no more care. */
  readonly finish: (run: string) => Promise<void>;
  /** Completes what somebody began who put dead tasks back; how many tasks it was. */
  readonly finishRedrives: () => Promise<number>;
  readonly erase: (run: string) => Promise<number>;
  readonly now: () => number; // epoch ms
  readonly log: Log;
}

export interface HousekeepingLimits {
  /** Between two looks, while there is something to do. */
  readonly everyMs: number;
  /** Runs that ended longer ago are removed. */
  readonly keepMs: number;
}

export interface Housekeeping {
  /** Looks around when there may be something to do, until the term is over. */
  run(over: AbortSignal): Promise<void>;
  workerLost(life: Beat): void;
}

/** What was half put back tells nobody, and is looked for this often. */
const REDRIVES_EVERY_MS = 10_000;

export function createHousekeeping(ports: HousekeepingPorts, limits: HousekeepingLimits): Housekeeping {
  const { log } = ports;
  return {
    async run(over) {
      const rest = createRest(over);
      const forget = ports.onRuns(() => rest.end());
      let redrivesAt = Number.NEGATIVE_INFINITY; // monotonic ms
      while (!over.aborted) {
        await attempt(() => settleCancelled(over));
        await attempt(() => removeOld());
        if (performance.now() - redrivesAt >= REDRIVES_EVERY_MS) {
          redrivesAt = performance.now();
          await attempt(() => finishRedrives());
        }
        // However often runs change, it looks once in a while; and when none does, no more than it must.
        await pause(limits.everyMs, over);
        await rest.take(idleMs(redrivesAt + REDRIVES_EVERY_MS - performance.now()));
      }
      forget();
    },
    workerLost(life) {
      void attempt(async () => {
        const tasks = await ports.giveBackTasksOf(life);
        if (tasks > 0) log.info('tasks.given-back', { worker: life.id, tasks });
      });
    },
  };

  /** How long there is nothing to do unless a run changes. */
  function idleMs(redrivesInMs: number): number {
    let ms = redrivesInMs;
    for (const run of ports.runs()) {
      if (isUncleared(run)) return 0;
      if (run.endedAt !== undefined) ms = Math.min(ms, run.endedAt + limits.keepMs - ports.now());
    }
    return Math.max(0, ms);
  }

  async function settleCancelled(over: AbortSignal): Promise<void> {
    const isOver = (): boolean => over.aborted;
    for (const run of ports.runs()) {
      if (!isUncleared(run) || isOver()) continue;
      const { id } = run;
      // Also where nothing seems to be open: what nobody has counted yet does not show.
      const settled = await ports.cancelLeft(id, over);
      if (settled > 0) log.info('run.cleared', { run: id, cancelled: settled });
      if (!isOver() && (await ports.countOpen(id)) === 0) await ports.finish(id);
    }
  }

  async function finishRedrives(): Promise<void> {
    const tasks = await ports.finishRedrives();
    if (tasks > 0) log.info('tasks.put-back', { tasks });
  }

  async function removeOld(): Promise<void> {
    const before = ports.now() - limits.keepMs;
    for (const { id, endedAt } of ports.runs()) {
      if (endedAt === undefined || endedAt > before) continue;
      log.info('run.removed', { run: id, records: await ports.erase(id) });
    }
  }

  /** What fails now is tried again at the next look. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      log.warn('housekeeping.failed', { reason: messageOf(error) });
    }
  }
}

/** Cancelled, and perhaps not all of its tasks. */
function isUncleared({ state, final }: RunRecord): boolean {
  return state === 'cancelled' && final === undefined;
}

async function pause(ms: number, over: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: over }).catch(() => undefined);
}
