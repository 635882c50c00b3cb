/** What the cluster did of late, from the difference between two looks at its totals. */
import type { Snapshot } from '../domain/snapshot.ts';
import type { DurationSums, TallySums } from '../domain/tally.ts';
import type { CountRecord } from './counters.ts';
import { countDurations, sumNamed } from './tally.ts';

export interface Sample {
  readonly atMs: number; // monotonic
  readonly counts: Pick<CountRecord, 'done' | 'dead'>;
  readonly tally: Pick<TallySums, 'retried' | 'task' | 'wait'>;
}

export interface Samples {
  /** Notes a look, and tells what was since the oldest one that is remembered. */
  add(sample: Sample): Snapshot['recent'];
}

const WINDOW_MS = 60_000;
/** Looks that are closer together count as one. */
const GAP_MS = 4_000;

export function createSamples(): Samples {
  let samples: readonly Sample[] = [];
  return {
    add(sample) {
      samples = samples.filter(({ atMs }) => sample.atMs - atMs <= WINDOW_MS);
      const recent = differenceOf(samples[0] ?? sample, sample);
      const last = samples.at(-1);
      if (!last || sample.atMs - last.atMs >= GAP_MS) samples = [...samples, sample];
      return recent;
    },
  };
}

export function differenceOf(from: Sample, to: Sample): Snapshot['recent'] {
  const dead = more(from.counts.dead, to.counts.dead);
  const taskMs = meanMs(from.tally.task, to.tally.task);
  const waitMs = meanMs(from.tally.wait, to.tally.wait);
  return {
    seconds: Math.max(0, to.atMs - from.atMs) / 1e3,
    done: more(from.counts.done, to.counts.done),
    dead,
    failed: dead + more(sumNamed(from.tally.retried), sumNamed(to.tally.retried)),
    ...(taskMs !== undefined && { taskMs }),
    ...(waitMs !== undefined && { waitMs }),
  };
}

function meanMs(from: DurationSums, to: DurationSums): number | undefined {
  const count = more(countDurations(from), countDurations(to));
  return count === 0 ? undefined : (more(from.seconds, to.seconds) / count) * 1e3;
}

function more(from: number, to: number): number {
  return Math.max(0, to - from);
}
