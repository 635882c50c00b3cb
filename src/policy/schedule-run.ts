/** The runs of a schedule: what is submitted to them, and how they are told from those of another one. */
import type { ScheduledTask } from '../domain/task.ts';
import { runOf } from './schedule-due.ts';
import type { ScheduleSpec } from './schedule-spec.ts';

const RUN_SUFFIX = /^-\d{8}T\d{6}Z(-[a-z0-9]{6})?$/;

/** A schedule's name may be the beginning of another one's, so the rest of the run's name counts too. */
export function isRunOf(name: string, run: string): boolean {
  return run.startsWith(name) && RUN_SUFFIX.test(run.slice(name.length));
}

/** The name of a run that somebody asked for; `random` in [0, 1) keeps two of the same second apart. */
export function runByHand(name: string, at: { readonly now: number; readonly random: number }): string {
  const suffix = Math.floor(at.random * 36 ** 6)
    .toString(36)
    .padStart(6, '0');
  return `${runOf(name, at.now)}-${suffix}`;
}

/** The tasks of one run, as a submitter writes them: one per address, or a single one that has the parameters alone. */
export function tasksOf({ urls, params }: ScheduleSpec, run: string): readonly ScheduledTask[] {
  const input = Object.keys(params).length > 0 ? { input: params } : {};
  return urls.length > 0 ? urls.map((url) => ({ url, ...input })) : [{ key: run, ...input }];
}
