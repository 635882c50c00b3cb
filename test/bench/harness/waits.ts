/** Waits of single tasks: percentiles over all rounds, and how far the rounds were apart. */
export interface Waits {
  readonly work: string;
  readonly name: string;
  readonly round: number;
  readonly waitsMs: readonly number[];
}

export const WAIT_HEADINGS = [
  'contestant',
  'safe',
  'p50 ms',
  'p99 ms',
  'longest ms',
  'p50 of the best and the worst round',
  'p50 ratio',
  'p99 ratio',
  'tasks',
];

export function percentile(
  rows: readonly Waits[],
  { work, name, share }: { work: string; name: string; share: number },
): number {
  return percentileOf(
    rows.filter((row) => row.work === work && row.name === name).flatMap(({ waitsMs }) => waitsMs),
    share,
  );
}

/** Ratio: how many times as long it takes as with the first. */
export function waitsTable(
  rows: readonly Waits[],
  work: string,
  contestants: readonly { readonly name: string; readonly safe: string }[],
): string[][] {
  const first = contestants[0]?.name ?? '';
  const of = (name: string, share: number): number => percentile(rows, { work, name, share });
  return contestants.map(({ name, safe }) => {
    const rounds = rows.filter((row) => row.work === work && row.name === name);
    const medians = rounds.map(({ waitsMs }) => percentileOf(waitsMs, 0.5));
    return [
      name,
      safe,
      of(name, 0.5).toFixed(1),
      of(name, 0.99).toFixed(1),
      of(name, 1).toFixed(1),
      `${Math.min(...medians).toFixed(1)} … ${Math.max(...medians).toFixed(1)}`,
      (of(name, 0.5) / of(first, 0.5)).toFixed(2),
      (of(name, 0.99) / of(first, 0.99)).toFixed(2),
      String(rounds.reduce((sum, { waitsMs }) => sum + waitsMs.length, 0)),
    ];
  });
}

/** The smallest number that this share of them does not exceed. */
export function percentileOf(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
