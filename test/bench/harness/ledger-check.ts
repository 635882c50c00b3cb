/** Exactly one outcome per task, by the counters of the ledger, which are written with the outcomes. */
import { createLedgerReader } from '../../../src/nats/ledger-reader.ts';
import { createNames } from '../../../src/wire/names.ts';
import { untilTrue, type Stage } from '../stage.ts';

export const names = createNames('trawl');

export interface Times {
  /** When nothing was settled yet, and when all was (monotonic ms). */
  readonly firstMs: number;
  readonly lastMs: number;
}

const LOOK_MS = 10;

/** Resolves when all are done; throws unless each has one outcome, and none a second. */
export async function untilDone(
  { connection }: Pick<Stage, 'connection'>,
  run: string,
  count: number,
): Promise<Times> {
  const reader = createLedgerReader(connection, names);
  let firstMs = performance.now();
  await untilTrue(async () => {
    const { done, dead, cancelled } = await reader.counts(run);
    if (done === 0) firstMs = performance.now();
    return done + dead + cancelled >= count;
  }, LOOK_MS);
  const lastMs = performance.now();
  const { accepted, duplicates, done, dead, cancelled, redriven } = await reader.counts(run);
  if (accepted !== count || done !== count || dead + cancelled + redriven + duplicates !== 0)
    throw new Error(
      `${run}: of ${count} tasks ${accepted} accepted, ${duplicates} duplicate, ${done} done, ${dead} dead, ${cancelled} cancelled`,
    );
  return { firstMs, lastMs };
}

/** No task is left in the queue: what has its outcome was acknowledged too. */
export async function untilQueueEmpty({ connection }: Stage): Promise<void> {
  await untilTrue(
    async () => (await connection.jsm.streams.info(names.stream('TASKS'))).state.messages === 0,
    LOOK_MS,
  );
}
