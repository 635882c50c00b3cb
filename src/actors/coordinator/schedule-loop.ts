/**
 * Schedules: the server keeps the clock, every coordinator takes what is due, and the leader makes up for what the
 * server left out and keeps the server's messages as the records want them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { asFailure, messageOf } from '../../domain/failure.ts';
import { dueTimeOf, findMissed } from '../../policy/schedule-due.ts';
import { parseSchedule, type ScheduleSpec } from '../../policy/schedule-spec.ts';
import type { DueMessage } from '../../wire/due.ts';
import { createFiring, dealtWithUntil, type DueTime } from './schedule-firing.ts';
import type { ScheduleLoopPorts, StoredSchedule } from './schedule-ports.ts';

export interface ScheduleLoop {
  /** Takes what is due until the signal aborts; ends when what was in hand is dealt with. */
  run(signal: AbortSignal): Promise<void>;
  /** For the leader: at once, then every few seconds, until the term is over. */
  leaderDuties(over: AbortSignal): Promise<void>;
  /** Carries out what is noted in the record of a schedule, now. */
  complete(name: string): Promise<void>;
  /** One more run, because somebody asked for it; its name. */
  fireByHand(name: string): Promise<string>;
  /** Its runs that have not ended. */
  openRunsOf(name: string): Promise<readonly string[]>;
}

export interface ScheduleLoopLimits {
  readonly retryMs: number;
  readonly lookEveryMs: number;
  /** Due schedules in hand at once. */
  readonly inHandMax: number;
}

export const SCHEDULE_LOOP_LIMITS: ScheduleLoopLimits = {
  retryMs: 2_000,
  lookEveryMs: 5_000,
  inHandMax: 16,
};

export function createScheduleLoop(
  ports: ScheduleLoopPorts,
  limits: ScheduleLoopLimits = SCHEDULE_LOOP_LIMITS,
): ScheduleLoop {
  const { schedules, announce, now, log } = ports;
  const firing = createFiring(ports);
  /** Broken ones that were told of, by revision: the leader looks again and again, and once is enough. */
  const told = new Map<string, number>();

  return {
    run,
    leaderDuties,
    async complete(name) {
      await firing.settle(name, () => undefined);
    },
    fireByHand: (name) => firing.byHand(name),
    openRunsOf: (name) => firing.openRuns(name),
  };

  async function run(signal: AbortSignal): Promise<void> {
    const inHand = new Set<Promise<void>>();
    const goesOn = (): boolean => !signal.aborted;
    while (goesOn()) {
      try {
        for await (const message of ports.dueMessages(signal)) {
          const work = handle(message).finally(() => inHand.delete(work));
          inHand.add(work);
          if (inHand.size >= limits.inHandMax) await Promise.race(inHand);
        }
      } catch (error) {
        if (goesOn()) log.warn('schedule.source-failed', { reason: messageOf(error) });
      }
      if (goesOn()) await delay(limits.retryMs, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(inHand);
  }

  /** Never throws: one schedule must not hold up the others. */
  async function handle(message: DueMessage): Promise<void> {
    const { name, firedAt, nextAt } = message;
    try {
      if (Number.isNaN(nextAt))
        announce({ kind: 'broken', schedule: name, reason: 'it was not the server that fired' });
      else if ((await firing.settle(name, (spec) => dueTimeOf(spec, { firedAt, nextAt }))) === 'gone')
        await schedules.unplan(name);
      message.ack();
    } catch (error) {
      const { code, message: reason } = asFailure(error);
      if (code === 'INVALID') {
        announce({ kind: 'broken', schedule: name, reason });
        message.ack();
        return;
      }
      log.warn('schedule.delayed', { schedule: name, reason });
      message.giveBack(limits.retryMs);
    }
  }

  async function leaderDuties(over: AbortSignal): Promise<void> {
    const goesOn = (): boolean => !over.aborted;
    while (goesOn()) {
      try {
        await lookAfterAll(over);
      } catch (error) {
        if (goesOn()) log.warn('schedule.neglected', { reason: messageOf(error) });
      }
      await delay(limits.lookEveryMs, undefined, { signal: over }).catch(() => undefined);
    }
  }

  async function lookAfterAll(over: AbortSignal): Promise<void> {
    // In this order: a message always comes after its record, so one without a record here has been left behind.
    const planned = new Map(await schedules.planned());
    for (const stored of await schedules.list()) {
      if (over.aborted) return;
      const message = planned.get(stored.name);
      planned.delete(stored.name);
      await lookAfter(stored, message).catch((error: unknown) => {
        const { code, message: reason } = asFailure(error);
        if (code === 'INVALID') tellOnce(stored, reason);
        else log.warn('schedule.neglected', { schedule: stored.name, reason });
      });
    }
    for (const [name, { seq }] of planned) await schedules.unplan(name, seq);
  }

  type Planned =
    Awaited<ReturnType<typeof schedules.planned>> extends ReadonlyMap<string, infer T> ? T : never;

  async function lookAfter(stored: StoredSchedule, message: Planned | undefined): Promise<void> {
    const parsed = stored.ok ? parseSchedule(stored.record.definition, now()) : undefined;
    if (!stored.ok || !parsed?.ok) {
      await firing.settle(stored.name, missedTime); // tells what is wrong with it
      return;
    }
    const { definition, paused, firing: begun } = stored.record;
    const missed = missedTime({ ...parsed.spec, paused }, stored.record);
    if (missed !== undefined || begun) if ((await firing.settle(stored.name, missedTime)) === 'gone') return;
    if (paused && message) await schedules.unplan(stored.name, message.seq);
    if (paused || (message?.isOf(definition) && !countsAnew(parsed.spec, { missed, message }))) return;
    await schedules.plan(parsed.spec, definition, message?.seq ?? 0);
  }

  /**
   * A server that was killed counts an interval from its restart, out of step with us: each time would be missed, made
   * up for late, and what it fires taken for the time before. Planned anew, it counts from now, when it is due.
   */
  function countsAnew(
    { timing }: ScheduleSpec,
    { missed, message }: { missed: number | undefined; message: Planned },
  ): boolean {
    return timing.kind === 'every' && missed !== undefined && message.fired !== true;
  }

  function tellOnce({ name, revision }: StoredSchedule, reason: string): void {
    if (told.get(name) === revision) return;
    told.set(name, revision);
    announce({ kind: 'broken', schedule: name, reason });
  }

  /**
   * Where nothing is made up for, nothing is noted either: an interval that the server began anew would otherwise fall
   * into a time that counts as dealt with, again and again.
   */
  function missedTime(...[spec, record]: Parameters<DueTime>): number | undefined {
    if (spec.paused || spec.catchUp === 'none') return undefined;
    return findMissed(spec, { since: dealtWithUntil(record), now: now() });
  }
}
