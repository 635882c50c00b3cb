/**
 * Fires a schedule, once for each time, however many coordinators do it and wherever one of them falls:
 *
 *   decide → note the decision in the record (compare-and-set) → submit → make and seal the run → note that it is done
 *
 * Of two who decide at once, one is refused, reads what the other decided, and carries that out: a decision has the
 * name of its run in it, so carried out twice it is still one run. The submission comes before the run, because a run
 * that exists but has nothing to do would end by itself: so where the run exists, the submission does.
 */
import { isEnded } from '../../policy/run-state.ts';
import { asFailure, Failure } from '../../domain/failure.ts';
import { decideDue } from '../../policy/schedule-due.ts';
import { isRunOf, runByHand, tasksOf } from '../../policy/schedule-run.ts';
import { parseSchedule, type ScheduleSpec } from '../../policy/schedule-spec.ts';
import type { PendingFiring, ScheduleRecord } from '../../wire/schedule-record.ts';
import type { ScheduleLoopPorts, StoredSchedule } from './schedule-ports.ts';

/** The planned time to deal with, by what the record says now; undefined: none. */
export type DueTime = (spec: ScheduleSpec, record: ScheduleRecord) => number | undefined;

export interface Firing {
  /**
   * Carries out what is noted, then deals with this time. `gone`: there is no such schedule. INVALID when it cannot be
   * read, and nothing will change that.
   */
  settle(name: string, dueTime: DueTime): Promise<'settled' | 'gone'>;
  /** One more run, because somebody asked for it; its name. */
  byHand(name: string): Promise<string>;
  openRuns(name: string): Promise<string[]>;
}

const TRIES = 20;

type Ports = Pick<ScheduleLoopPorts, 'schedules' | 'runs' | 'submit' | 'announce' | 'now' | 'random'>;

export function createFiring(ports: Ports): Firing {
  const { schedules, runs, submit, announce, now } = ports;

  return {
    async settle(name, dueTime) {
      for (let left = TRIES; left > 0; left -= 1) {
        const stored = await schedules.get(name);
        if (!stored) return 'gone';
        const settled = await step(stored, dueTime).catch((error: unknown) => {
          if (asFailure(error).code === 'CONFLICT') return false; // somebody was faster: look again
          throw error;
        });
        if (settled) return 'settled';
      }
      throw new Failure('CONFLICT', `the schedule ${name} keeps changing`);
    },
    async byHand(name) {
      const stored = await schedules.get(name);
      if (!stored)
        throw new Failure('INVALID', `there is no schedule ${name}`, {
          hint: '`trawl schedule ls` shows all.',
        });
      const at = now();
      const firing = { run: runByHand(name, { now: at, random: ports.random() }), startAt: at };
      await carryOut(readSpec(stored).spec, firing);
      announce({ kind: 'fired', schedule: name, run: firing.run, dueAt: at, reason: 'by-hand' });
      return firing.run;
    },
    openRuns,
  };

  /** Whether nothing is left to do. */
  async function step(stored: StoredSchedule, dueTime: DueTime): Promise<boolean> {
    const { spec, record } = readSpec(stored);
    const { name, revision } = stored;
    const store = (changed: ScheduleRecord): Promise<void> => schedules.store(name, changed, revision);
    if (record.firing) {
      const { firing, ...rest } = record;
      await carryOut(spec, firing);
      await store({ ...rest, lastDueAt: Math.max(rest.lastDueAt ?? 0, firing.dueAt) });
      announce({
        kind: 'fired',
        schedule: name,
        run: firing.run,
        dueAt: firing.dueAt,
        reason: firing.reason,
      });
      return false;
    }
    const planned = dueTime(spec, record);
    if (planned === undefined) return true;
    const decision = decideDue({
      spec,
      dueAt: planned,
      lastDueAt: dealtWithUntil(record),
      now: now(),
      runsOpen: await openRuns(name),
    });
    const { dueAt, reason } = decision;
    if (decision.action === 'fire') {
      await store({ ...record, firing: { dueAt, run: decision.run, startAt: decision.startAt, reason } });
      return false;
    }
    if (reason === 'already') return true;
    await store({ ...record, lastDueAt: dueAt });
    announce({ kind: 'skipped', schedule: name, dueAt, reason });
    return true;
  }

  async function carryOut(
    spec: ScheduleSpec,
    { run: id, startAt }: Pick<PendingFiring, 'run' | 'startAt'>,
  ): Promise<void> {
    const { scraper, priority } = spec;
    const known = await runs.get(id);
    if (!known) {
      await submit({
        scraper,
        run: id,
        tasks: tasksOf(spec, id),
        priority,
        ...(startAt > now() && { notBefore: startAt }),
      });
      await runs.ensure({ id, scraper, priority, standing: false });
    }
    // Whoever saw the submission before this made the run without knowing its priority.
    await runs.change(id, (run) =>
      isEnded(run) || run.sealed ? undefined : { ...run, priority, sealed: { messages: 1 } },
    );
  }

  async function openRuns(name: string): Promise<string[]> {
    const all = await runs.list();
    return all.flatMap(({ run }) => (isRunOf(name, run.id) && !isEnded(run) ? [run.id] : []));
  }

  function readSpec(stored: StoredSchedule): { spec: ScheduleSpec; record: ScheduleRecord } {
    if (!stored.ok) throw new Failure('INVALID', stored.problem);
    const parsed = parseSchedule(stored.record.definition, now());
    if (!parsed.ok) throw new Failure('INVALID', parsed.problems.join('; '));
    return { spec: { ...parsed.spec, paused: stored.record.paused }, record: stored.record };
  }
}

/** Times up to this one have had their run, were skipped, or lie before the schedule. */
export function dealtWithUntil({ since, lastDueAt = 0 }: ScheduleRecord): number {
  return Math.max(since, lastDueAt);
}
