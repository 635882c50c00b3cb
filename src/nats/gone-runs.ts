/**
 * What became of the tasks of runs that are removed, added up under one key: so the totals of the cluster do not go
 * down with them. A run is added once, however often its removal is begun.
 */
import { NO_COUNTS, sumCounts, type CountRecord } from '../policy/counters.ts';
import { keys } from '../wire/names.ts';
import { decodeGone, encodeGone, runMark, type GoneRecord } from '../wire/tally-record.ts';
import { isConflict, type Bucket } from './bucket.ts';
import { messageOf } from '../domain/failure.ts';
import type { Log } from '../telemetry/log.ts';

/** Runs that are remembered by name: more than are ever between being added and being removed. */
const NAMES_MAX = 1_000;
const TRIES = 20;
const NONE: GoneRecord = { counts: NO_COUNTS, runs: [] };

export async function addGoneRun(
  bucket: Bucket,
  run: { readonly id: string; readonly createdAt: number },
  counts: CountRecord,
): Promise<void> {
  const mark = runMark(run);
  for (let left = TRIES; ; left -= 1) {
    const entry = await bucket.get(keys.goneRuns);
    const gone = entry ? decodeGone(entry.value) : NONE;
    if (gone.runs.includes(mark)) return;
    const value = encodeGone({
      counts: sumCounts([gone.counts, counts]),
      runs: [...gone.runs, mark].slice(-NAMES_MAX),
    });
    try {
      if (entry) await bucket.put(entry.key, value, { expect: entry.revision });
      else await bucket.create(keys.goneRuns, value);
      return;
    } catch (error) {
      if (!isConflict(error) || left === 1) throw error;
    }
  }
}

/** Calls back with the sum, then with each change; resolves when the former was told. */
export async function watchGoneRuns(
  bucket: Bucket,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
  listener: (gone: GoneRecord) => void,
): Promise<void> {
  await bucket.watch(
    keys.goneRuns,
    ({ entry }) => {
      try {
        if (entry) listener(decodeGone(entry.value));
      } catch (error) {
        log.warn('runs.gone-unreadable', { reason: messageOf(error) });
      }
    },
    signal,
  );
}
