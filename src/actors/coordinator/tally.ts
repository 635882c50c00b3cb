/**
 * Keeps in each run's record how many of its messages were taken in, and when the last one was submitted: at most
 * once a second, and soon when nothing waits behind a message, because then the end of the run may depend on it.
 */
import { isEnded } from '../../policy/run-state.ts';
import { messageOf } from '../../domain/failure.ts';
import type { Log } from '../../telemetry/log.ts';
import type { IntakeMessage } from '../../wire/intake.ts';
import type { RunRecord } from '../../wire/run-record.ts';
import type { ChangeRun } from './ports.ts';
import { homeOf } from './task-record.ts';

export interface Tally {
  note(message: Pick<IntakeMessage, 'scraper' | 'run' | 'at' | 'behind'>): void;
  /** Writes what is noted, once; nothing is noted afterwards. */
  close(): Promise<void>;
}

interface Noted {
  taken: number;
  at: number; // epoch ms
  writtenAt: number; // monotonic ms
  timer: NodeJS.Timeout | undefined;
}

const EVERY_MS = 1_000;
const LAST_MS = 250;

export function createTally({ change, log }: { change: ChangeRun<RunRecord>; log: Log }): Tally {
  const noted = new Map<string, Noted>();
  let closed = false;

  return {
    note(message) {
      if (closed) return;
      const run = homeOf(message).id;
      const about = noted.get(run) ?? { taken: 0, at: 0, writtenAt: -EVERY_MS, timer: undefined };
      noted.set(run, about);
      about.taken += 1;
      about.at = Math.max(about.at, message.at);
      plan(run, about, message.behind === 0 ? LAST_MS : EVERY_MS);
    },
    async close() {
      closed = true;
      await Promise.all([...noted].map(([run, about]) => write(run, about)));
    },
  };

  function plan(run: string, about: Noted, gapMs: number): void {
    clearTimeout(about.timer);
    const waitMs = Math.max(0, about.writtenAt + gapMs - performance.now());
    about.timer = setTimeout(() => void write(run, about), waitMs);
  }

  async function write(run: string, about: Noted): Promise<void> {
    clearTimeout(about.timer);
    const { taken, at } = about;
    if (taken === 0) return;
    about.taken = 0;
    about.writtenAt = performance.now();
    try {
      await change(run, (record) =>
        isEnded(record)
          ? undefined
          : { ...record, taken: record.taken + taken, lastSubmitAt: Math.max(record.lastSubmitAt, at) },
      );
    } catch (error) {
      about.taken += taken;
      log.warn('run.tally-failed', { run, reason: messageOf(error) });
      if (!closed) plan(run, about, EVERY_MS);
    }
  }
}
