/**
 * What the leader clears up after others: the tasks of a worker that died, dead tasks that were half put back, the
 * open tasks of a cancelled run, and runs that ended long ago.
 */
import type { Beat } from '../../domain/beat.ts';
import { messageOf } from '../../domain/failure.ts';
import type { Log } from '../../telemetry/log.ts';
import type { RunRecord } from '../../wire/run-record.ts';

export interface HousekeepingPorts {
  /** Gives back what the dead worker had in hand; how many tasks it was. */
  readonly giveBackTasksOf: (life: Beat) => Promise<number>;
  readonly runs: () => readonly RunRecord[];
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
  readonly everyMs: number;
  /** Runs that ended longer ago are removed. */
  readonly keepMs: number;
}

export interface Housekeeping {
  /** Looks around now and then, until the term is over. */
  run(over: AbortSignal): Promise<void>;
  workerLost(life: Beat): void;
}

/** Looks between two of those for what was half put back. */
const REDRIVES_EVERY = 20;

export function createHousekeeping(ports: HousekeepingPorts, limits: HousekeepingLimits): Housekeeping {
  const { log } = ports;
  return {
    async run(over) {
      for (let look = 0; !over.aborted; look += 1) {
        await attempt(() => settleCancelled(over));
        await attempt(() => removeOld());
        if (look % REDRIVES_EVERY === 0) await attempt(() => finishRedrives());
        await rest(over);
      }
    },
    workerLost(life) {
      void attempt(async () => {
        const tasks = await ports.giveBackTasksOf(life);
        if (tasks > 0) log.info('tasks.given-back', { worker: life.id, tasks });
      });
    },
  };

  async function settleCancelled(over: AbortSignal): Promise<void> {
    const isOver = (): boolean => over.aborted;
    for (const { id, state, final } of ports.runs()) {
      if (state !== 'cancelled' || final !== undefined || isOver()) continue;
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

  function rest(over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        over.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, limits.everyMs);
      over.addEventListener('abort', end, { once: true });
    });
  }
}
