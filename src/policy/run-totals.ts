/**
 * What became of all tasks since the cluster was made: the counters of its runs, and the sum over those that were
 * removed. The two are heard of apart, so a run counts until it is known to be in that sum, and not a moment longer.
 */
import type { RunRecord } from '../wire/run-record.ts';
import { runMark, type GoneRecord } from '../wire/tally-record.ts';
import { countsOfFinal, latestCounts, NO_COUNTS, sumCounts, type CountRecord } from './counters.ts';

export interface RunTotals {
  /** A run as it is now; undefined: it is gone. */
  hear(id: string, run: RunRecord | undefined): void;
  hearGone(record: GoneRecord): void;
  /** The runs whose counters are to be read now: those that are worked on, and some of the others in turn. */
  toRead(): readonly string[];
  read(counts: ReadonlyMap<string, CountRecord>): void;
  sum(): CountRecord;
  byState(): { readonly queued: number; readonly active: number; readonly paused: number };
}

interface Known {
  readonly run: RunRecord;
  readonly counts: CountRecord;
}

/** Of those that are not worked on, so many at each reading: theirs change rarely, and there may be thousands. */
const OTHERS_AT_ONCE = 20;

export function createRunTotals(): RunTotals {
  const runs = new Map<string, Known>();
  /** Removed, and not yet known to be in the sum. */
  const leaving = new Map<string, CountRecord>();
  let gone: GoneRecord = { counts: NO_COUNTS, runs: [] };
  let turn = 0;

  return {
    hear(id, run) {
      const known = runs.get(id);
      const isSame = known !== undefined && known.run.createdAt === run?.createdAt;
      if (known && !isSame) leaving.set(runMark(known.run), known.counts);
      const before = isSame ? known.counts : NO_COUNTS;
      if (run)
        runs.set(id, { run, counts: run.final ? latestCounts(before, countsOfFinal(run.final)) : before });
      else runs.delete(id);
      forgetGone();
    },
    hearGone(record) {
      gone = record;
      forgetGone();
    },
    toRead() {
      const all = [...runs.values()].map(({ run }) => run);
      const busy = all.filter(({ state }) => state === 'active' || state === 'paused');
      const others = all.filter(({ state }) => state !== 'active' && state !== 'paused');
      const picked = Array.from({ length: Math.min(OTHERS_AT_ONCE, others.length) }, (_, index) => {
        return others[(turn + index) % others.length] as RunRecord;
      });
      turn += picked.length;
      return [...busy, ...picked].map(({ id }) => id);
    },
    read(counts) {
      for (const [id, found] of counts) {
        const known = runs.get(id);
        if (known) runs.set(id, { ...known, counts: latestCounts(known.counts, found) });
      }
    },
    sum() {
      const over = new Set(gone.runs);
      const present = [...runs.values()].filter(({ run }) => !over.has(runMark(run)));
      return sumCounts([gone.counts, ...leaving.values(), ...present.map(({ counts }) => counts)]);
    },
    byState() {
      const counts = { queued: 0, active: 0, paused: 0 };
      for (const { run } of runs.values())
        if (run.state === 'queued' || run.state === 'active' || run.state === 'paused')
          counts[run.state] += 1;
      return counts;
    },
  };

  function forgetGone(): void {
    for (const mark of gone.runs) leaving.delete(mark);
  }
}
