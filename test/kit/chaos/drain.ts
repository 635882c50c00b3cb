/** The end of a run of the chaos test: nothing more is submitted, and all that there is gets done. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Bucket } from '../../../src/nats/bucket.ts';
import type { Connection } from '../../../src/nats/connect.ts';
import { createLedgerReader } from '../../../src/nats/ledger-reader.ts';
import { createServices } from '../../../src/nats/services-client.ts';
import { openBucket } from '../../../src/nats/bucket.ts';
import { countTasks } from '../../../src/policy/counters.ts';
import { keys, type Names } from '../../../src/wire/names.ts';
import { decodeRun } from '../../../src/wire/run-record.ts';
import type { ChaosStory } from './story.ts';

const LOOK_MS = 200;
const SEAL_TRIES = 20;
/** Nothing can happen any more when nothing is left to do for so long. */
const STILL_MS = 4_000;

export async function sealRun(
  connection: Connection,
  names: Names,
  { run, messages }: { run: string; messages: number },
): Promise<void> {
  const services = createServices(connection, names);
  for (let tries = 1; ; tries += 1) {
    try {
      await services.call('run.seal', { run, messages }, { timeoutMs: 1_000 });
      return;
    } catch (error) {
      if (tries === SEAL_TRIES) throw error;
      await delay(LOOK_MS);
    }
  }
}

/** Whether both streams get empty and the run ends; false as soon as it is clear that this will not happen. */
export async function untilDrained(
  connection: Connection,
  names: Names,
  { run, limitMs }: { run: string; limitMs: number },
): Promise<boolean> {
  const bucket = openBucket(connection, names.bucket('cluster'));
  const reader = createLedgerReader(connection, names);
  const startedAt = performance.now();
  let emptySince = Infinity;
  for (;;) {
    const empty = (await size('INTAKE')) + (await size('TASKS')) === 0;
    const now = performance.now();
    emptySince = empty ? Math.min(emptySince, now) : Infinity;
    const found = (await listRuns(bucket)).find(({ id }) => id === run);
    if (empty && found?.state.startsWith('done') === true) return true;
    const stuck = now - emptySince > STILL_MS && countTasks(await reader.counts(run)).open > 0;
    if (stuck || now - startedAt > limitMs) return false;
    await delay(LOOK_MS);
  }

  async function size(stream: 'INTAKE' | 'TASKS'): Promise<number> {
    return (await connection.jsm.streams.info(names.stream(stream))).state.messages;
  }
}

export async function listRuns(bucket: Bucket): Promise<ChaosStory['runs']> {
  const entries = await bucket.list(keys.allRuns);
  return entries.map(({ value }) => {
    const { id, standing, state, final } = decodeRun(value);
    return { id, standing, state, ...(final && { final }) };
  });
}
