/** Kills workers with tasks in hand, one after the other, and reads when each task was started again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { listLanes } from '../../src/nats/lanes.ts';
import { askActor } from '../../src/nats/mailbox.ts';
import { names, untilDone } from './harness/ledger-check.ts';
import type { Start } from './harness/starts.ts';
import { untilTrue } from './stage.ts';

/** Tasks that a worker has in hand when it is killed: as many as it has slots. */
export const HELD = 10;
/** How long the tasks take, and the part of it that is over when their worker is killed. */
export const TASK_MS = 5_000;
export const KILLED_AFTER_MS = [2_500, 3_500] as const;

export interface KillRow {
  readonly way: string;
  readonly victim: string;
  /** From the kill until each of its tasks was started again. */
  readonly waitsMs: readonly number[];
  /** How many times they were started after it, all together: once each, unless one was given back twice. */
  readonly startsAgain: number;
}

export interface Killing {
  readonly connection: Connection;
  readonly client: Client;
  readonly starts: () => readonly Start[];
  readonly pidOf: (id: string) => number;
}

export interface Killed {
  readonly victim: string;
  readonly keys: readonly string[];
  readonly pid: number;
  readonly at: number; // epoch ms
}

/** One run for all: of several runs of a scraper the next would wait until the tasks of the dead are done. */
const RUN = 'default-hold';

/** Only this worker takes tasks now. It gets all that it has slots for, and is killed while they run. */
export async function killHolding(
  { client, starts, pidOf }: Killing,
  victim: string,
  turn: number,
): Promise<Killed> {
  const keys = Array.from({ length: HELD }, (_, n) => `${victim}-${turn}-${n}`);
  await client.submit(
    'hold',
    keys.map((key) => ({ key })),
  );
  const pid = pidOf(victim);
  await untilTrue(async () => {
    const begun = starts().filter(({ key }) => keys.includes(key));
    if (begun.some((start) => start.pid !== pid)) throw new Error(`somebody else has a task of ${victim}`);
    return begun.length === HELD;
  });
  const [least, most] = KILLED_AFTER_MS;
  await delay(least + Math.random() * (most - least));
  process.kill(pid, 'SIGKILL');
  return { victim, keys, pid, at: Date.now() };
}

/** Resolves when each of so many tasks has its one outcome. */
export function untilAllDone({ connection }: Killing, kills: number): Promise<unknown> {
  return untilDone({ connection }, RUN, kills * HELD);
}

/** Once all are done. */
export function readKill({ starts }: Killing, way: string, { victim, keys, pid, at }: Killed): KillRow {
  const again = starts().filter((start) => keys.includes(start.key) && start.pid !== pid);
  const waitsMs = keys.map((key) => {
    const own = again.filter((start) => start.key === key).map((start) => start.at - at);
    if (own.length === 0) throw new Error(`nobody has started ${key} again`);
    return Math.min(...own);
  });
  return { way, victim, waitsMs, startsAgain: again.length };
}

/** None of these takes a task any more, nor has one asked for: a task that it gives back looks as if it were to blame. */
export async function pauseAll(connection: Connection, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => tellWorker(connection, id, 'pause')));
  await untilTrue(async () =>
    (await listLanes(connection, names)).every(({ info }) => info.num_waiting === 0),
  );
}

export async function resumeAll(connection: Connection, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => tellWorker(connection, id, 'resume')));
}

/** Resolves when it has heard; one that is still starting does not answer yet. */
async function tellWorker(connection: Connection, id: string, verb: 'pause' | 'resume'): Promise<void> {
  await untilTrue(() =>
    askActor(connection, { names, role: 'worker', id, verb, timeoutMs: 2_000 }).then(
      () => true,
      () => false,
    ),
  );
}
