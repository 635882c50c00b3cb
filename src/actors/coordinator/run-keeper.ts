/**
 * The leader's care for runs: finds those that exist only as submissions, starts those whose turn it is, ends those
 * that are over, and sees to what was sent to runs that no longer take anything.
 */
import { messageOf } from '../../domain/failure.ts';
import { defaultRunId, isRunId } from '../../domain/run-id.ts';
import { planPromotions, type PromotionLimits } from '../../policy/promote-runs.ts';
import type { RunEndLimits } from '../../policy/run-end.ts';
import { isEnded, changeRun, phaseOf, withPhase } from '../../policy/run-state.ts';
import { createRest } from '../../runtime/rest.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Intake } from '../../wire/intake.ts';
import type { ChangeRun, Ledger, RunNews, VersionedRun } from './ports.ts';
import { createEndCheck } from './run-end-check.ts';
import type { RunTable } from './run-table.ts';

export interface RunKeeperParts {
  readonly table: RunTable;
  readonly intake: Pick<Intake, 'lastSeq' | 'openByRun' | 'openOf' | 'forget' | 'remembered'>;
  readonly ledger: Pick<Ledger, 'counts' | 'lastSeq'>;
  readonly announce: (news: RunNews) => void;
  /** Runs whose messages this leader takes in although they are not active. */
  readonly takeFrom: (runs: ReadonlySet<string>) => void;
  readonly now: () => number; // epoch ms
  readonly log: Log;
}

export interface RunKeeperLimits {
  readonly promotion: PromotionLimits;
  readonly runEnd: RunEndLimits;
  readonly everyMs: number;
  /** While no run is under way: then it only looks for runs that exist as nothing but submissions. */
  readonly idleEveryMs: number;
}

export interface RunTerm {
  readonly over: AbortSignal;
  /** Refused once somebody else leads. */
  readonly change: ChangeRun<VersionedRun>;
}

export function createRunKeeper(
  parts: RunKeeperParts,
  limits: RunKeeperLimits,
): (term: RunTerm) => Promise<void> {
  const { table, intake, announce, now, log } = parts;

  return async ({ over, change }) => {
    const endCheck = createEndCheck({ ...parts, change }, limits.runEnd);
    const wake = createWake(over);
    const forgetChanges = table.onChange(() => {
      seen = -1; // a run that changed may have left messages behind
      wake.now();
    });
    let seen = -1;
    let strays: ReadonlySet<string> = new Set();
    let failing = false;
    const isOver = (): boolean => over.aborted;
    try {
      await attempt(async () => {
        await table.refresh();
        await forgetEnded();
      });
      while (!isOver()) {
        await attempt(promote);
        await wake.rest(isIdle() ? limits.idleEveryMs : limits.everyMs, async () => {
          await attempt(discover);
          await attempt(endRuns);
        });
      }
    } finally {
      forgetChanges();
      parts.takeFrom(new Set());
    }

    /** What fails now is tried again at the next look; a term that cannot go on is ended by its lock. */
    async function attempt(step: () => Promise<void>): Promise<void> {
      if (isOver()) return;
      try {
        await step();
        failing = false;
      } catch (error) {
        if (!failing && !isOver()) log.warn('runs.neglected', { reason: messageOf(error) });
        failing = true;
      }
    }

    function isIdle(): boolean {
      return strays.size === 0 && table.all().every((run) => run.standing || isEnded(run));
    }

    async function promote(): Promise<void> {
      const { activate } = planPromotions(table.all(), limits.promotion);
      for (const id of activate) {
        const started = await change(id, (run) => {
          const next = changeRun(phaseOf(run), { kind: 'activate' });
          return next.ok ? { ...withPhase(run, next.phase), startedAt: now() } : undefined;
        });
        if (!started) continue;
        table.put(started);
        announce({ kind: 'started', run: started.run });
      }
    }

    async function discover(): Promise<void> {
      const seq = await intake.lastSeq();
      if (seq === seen && strays.size === 0) return;
      const left = new Set<string>();
      for (const { scraper, run } of await intake.openByRun()) {
        const standing = run === defaultRunId(scraper);
        const known = isRunId(run) ? await table.ensure({ id: run, scraper, standing }) : undefined;
        if (!known || isEnded(known) || known.standing) left.add(run);
      }
      const gone = [...strays].filter((run) => !left.has(run));
      strays = left;
      parts.takeFrom(left);
      for (const run of gone) await intake.forget(run);
      seen = seq;
    }

    async function endRuns(): Promise<void> {
      for (const ended of await endCheck(table.all())) {
        table.put(ended);
        announce({ kind: 'ended', run: ended.run });
        await intake.forget(ended.run.id);
      }
    }

    /** A leader that died between the end of a run and this left its consumer. */
    async function forgetEnded(): Promise<void> {
      for (const id of await intake.remembered()) {
        const run = table.get(id);
        if (run && isEnded(run)) await intake.forget(id);
      }
    }
  };
}

interface Wake {
  now(): void;
  /** Works, then waits: until the next look is due, or something changed. */
  rest(ms: number, work: () => Promise<void>): Promise<void>;
}

/** Changes wake at once; the work that asks the server is done once per interval, however often something changes. */
function createWake(over: AbortSignal): Wake {
  const pause = createRest(over);
  let workedAt = Number.NEGATIVE_INFINITY;
  return {
    now: () => pause.end(),
    async rest(ms, work) {
      if (performance.now() - workedAt >= ms) {
        workedAt = performance.now();
        await work();
      }
      await pause.take(Math.max(1, workedAt + ms - performance.now()));
    },
  };
}
