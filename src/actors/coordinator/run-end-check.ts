/**
 * Ends the runs that are over. The counters are exact, so a run ends at the look after its last task settled; how
 * soon a run is looked at again goes by how much it still has to do, and while nothing in the ledger changes no run is
 * looked at, unless its time has come.
 */
import { countTasks, finalCounts, type CountRecord } from '../../policy/counters.ts';
import { decideRun, type RunDecision, type RunEndLimits } from '../../policy/run-end.ts';
import { changeRun, phaseOf, withPhase } from '../../policy/run-state.ts';
import type { Intake } from '../../wire/intake.ts';
import type { RunRecord } from '../../wire/run-record.ts';
import type { ChangeRun, Ledger, VersionedRun } from './ports.ts';

export interface EndCheckPorts {
  readonly ledger: Pick<Ledger, 'counts' | 'lastSeq'>;
  readonly intake: Pick<Intake, 'openOf'>;
  readonly change: ChangeRun<VersionedRun>;
  readonly now: () => number; // epoch ms
}

/** The run, if this look has ended it. */
export type EndCheck = (runs: readonly RunRecord[]) => Promise<VersionedRun[]>;

/** No cluster settles faster than this. */
const SETTLED_PER_MS = 20;
const LOOK_AGAIN_MAX_MS = 10_000;

interface Look {
  readonly run: RunRecord;
  readonly ledgerSeq: number;
  /** Not before, whatever happens in the ledger. */
  readonly earliestMs: number;
  /** Then, even if nothing happens. */
  readonly latestMs: number;
}

export function createEndCheck(
  { ledger, intake, change, now }: EndCheckPorts,
  limits: RunEndLimits,
): EndCheck {
  const looks = new Map<string, Look>();

  return async (runs) => {
    const open = runs.filter((run) => run.state === 'active' && !run.standing);
    for (const id of looks.keys()) if (!open.some((run) => run.id === id)) looks.delete(id);
    if (open.length === 0) return [];
    const ledgerSeq = await ledger.lastSeq();
    const ended: VersionedRun[] = [];
    for (const run of open) {
      if (!isDue(run, ledgerSeq)) continue;
      const result = await look(run, ledgerSeq);
      if (result) ended.push(result);
    }
    return ended;
  };

  function isDue(run: RunRecord, ledgerSeq: number): boolean {
    const last = looks.get(run.id);
    if (!last) return true;
    const at = now();
    if (at >= last.latestMs) return true;
    return at >= last.earliestMs && (last.ledgerSeq !== ledgerSeq || last.run !== run);
  }

  async function look(run: RunRecord, ledgerSeq: number): Promise<VersionedRun | undefined> {
    const seen = { run, ledgerSeq, earliestMs: 0, latestMs: Infinity };
    const counts = await ledger.counts(run.id);
    const { open } = countTasks(counts);
    if (open > 0) {
      const waitMs = Math.min(open / SETTLED_PER_MS, LOOK_AGAIN_MAX_MS);
      looks.set(run.id, { ...seen, earliestMs: now() + waitMs });
      return undefined;
    }
    const intakeOpen = await intake.openOf(run.id);
    const again = await ledger.counts(run.id);
    // Something happened in between: whatever was read belongs to two different moments.
    if (!isSame(counts, again)) return undefined;
    const decision = decideRun(factsOf(run, intakeOpen), again, { now: now(), limits });
    if (decision.verdict === 'end') return end(run, decision, again);
    looks.set(run.id, { ...seen, latestMs: wakeTime(decision) });
    return undefined;
  }

  function wakeTime(decision: Exclude<RunDecision, { verdict: 'end' }>): number {
    if (decision.reason === 'not-sealed') return decision.untilMs;
    // Messages that are not taken in yet show in no ledger until they are.
    return decision.reason === 'intake-open' ? now() : Infinity;
  }

  async function end(
    run: RunRecord,
    decision: Extract<RunDecision, { verdict: 'end' }>,
    counts: CountRecord,
  ): Promise<VersionedRun | undefined> {
    const final = finalCounts(counts);
    const endedAt = now();
    return change(run.id, (record) => {
      // Taken in more, sealed, paused: then the decision was about another run than this.
      if (record.taken !== run.taken || record.lastSubmitAt !== run.lastSubmitAt) return undefined;
      const next = changeRun(phaseOf(record), {
        kind: 'finish',
        withErrors: decision.state === 'done_with_errors',
      });
      return next.ok ? { ...withPhase(record, next.phase), endedAt, final } : undefined;
    });
  }
}

function factsOf(run: RunRecord, intakeOpen: number): Parameters<typeof decideRun>[0] {
  const { state, standing, sealed, taken } = run;
  return {
    state,
    standing,
    // A seal may overtake the messages that it counts. Should a count have been lost, the run ends when it is idle.
    sealed: sealed !== undefined && taken >= sealed.messages,
    intakeOpen,
    lastSubmittedAt: run.lastSubmitAt,
    activeSince: run.startedAt ?? run.createdAt,
  };
}

function isSame(a: CountRecord, b: CountRecord): boolean {
  return (
    a.accepted === b.accepted &&
    a.duplicates === b.duplicates &&
    a.done === b.done &&
    a.dead === b.dead &&
    a.cancelled === b.cancelled &&
    a.redriven === b.redriven &&
    a.items === b.items
  );
}
