/**
 * How many tasks of a run are worked on, and how many wait for their time. The workers know the former and the server
 * the latter; where one of them does not tell, what the whole cluster has is the most that a run can have.
 */

/** What one worker tells of the tasks it has in hand: of so many runs by name, of the rest together. */
export interface InHand {
  readonly runs: readonly (readonly [run: string, tasks: number])[];
  readonly other: number;
}

export interface LoadFacts {
  /** Of everything, from the server. */
  readonly cluster: { readonly running: number; readonly deferred: number };
  /** Workers that are alive. */
  readonly workers: number;
  /** Of those that answered. */
  readonly inHand: readonly InHand[];
  /** By run; undefined where there are too many to count them one by one. */
  readonly deferred: ReadonlyMap<string, number> | undefined;
}

export interface RunLoad {
  readonly running: number;
  readonly deferred: number;
  /** Counted, and not only bounded. */
  readonly exact: { readonly running: boolean; readonly deferred: boolean };
}

const RUNS_TOLD_MAX = 32;

/** The runs with the most tasks, and the one that was asked for. */
export function summarizeInHand(tasks: ReadonlyMap<string, number>, asked?: string): InHand {
  const byCount = [...tasks].sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
  const told = byCount.filter(([run], place) => place < RUNS_TOLD_MAX || run === asked);
  return { runs: told, other: total(byCount) - total(told) };
}

export function loadOfRun(run: string, { cluster, workers, inHand, deferred }: LoadFacts): RunLoad {
  const told = inHand.map(({ runs, other }) => ({ tasks: tasksOf(run, runs), other }));
  const isTold = told.every(({ tasks, other }) => tasks !== undefined || other === 0);
  const known = isAnswered({ cluster, workers, inHand });
  const running = told.reduce((sum, { tasks = 0 }) => sum + tasks, 0);
  return {
    running: known || running > 0 ? running : cluster.running,
    deferred: deferred ? (deferred.get(run) ?? 0) : cluster.deferred,
    exact: { running: known && isTold, deferred: deferred !== undefined },
  };
}

export function loadOfAll({ cluster, workers, inHand }: Omit<LoadFacts, 'deferred'>): RunLoad {
  const known = isAnswered({ cluster, workers, inHand });
  const running = inHand.reduce((sum, { runs, other }) => sum + total(runs) + other, 0);
  return {
    running: known ? running : cluster.running,
    deferred: cluster.deferred,
    exact: { running: known, deferred: true },
  };
}

/** Where nobody is alive and the server knows of tasks in hand, they are in the hand of somebody who died. */
function isAnswered({ cluster, workers, inHand }: Omit<LoadFacts, 'deferred'>): boolean {
  return inHand.length >= workers && (inHand.length > 0 || cluster.running === 0);
}

function tasksOf(run: string, runs: InHand['runs']): number | undefined {
  return runs.find(([name]) => name === run)?.[1];
}

function total(runs: InHand['runs']): number {
  return runs.reduce((sum, [, tasks]) => sum + tasks, 0);
}
