/**
 * One message of the intake becomes tasks, in an order that a death at any point neither loses nor doubles:
 *
 *   keep to the page budget, if there is one → accept in the ledger → count duplicates → put into the queue → acknowledge
 *
 * A message that is delivered again finds its own tasks by the sequence in their records, and queues them once more,
 * which does no harm; what is not its own is a duplicate, at every delivery the same.
 *
 * A coordinator that slept past its lease lets the message lie: a successor has it. Should it fall asleep between the
 * question and the deed, the ledger refuses what was accepted and counted without it.
 */
import { isEnded } from '../../policy/run-state.ts';
import type { Intake, IntakeMessage } from '../../wire/intake.ts';
import type { RunRecord } from '../../wire/run-record.ts';
import type { ParsedSubmission } from '../../wire/submission.ts';
import type { ParsedRequest } from '../../wire/submission-task.ts';
import { acceptAll, type Accepted } from './accept.ts';
import type { CheckInput, Ledger, RunDraft, TaskQueue } from './ports.ts';
import {
  graveRecord,
  homeOf,
  lateRecord,
  queuedRecord,
  refusedRecord,
  type Acceptable,
} from './task-record.ts';
import { withinBudget } from './within-budget.ts';

export interface TakeInPorts {
  readonly ledger: Pick<Ledger, 'accept' | 'claimPages' | 'countDuplicates' | 'readMany'>;
  readonly queue: Pick<TaskQueue, 'enqueue'>;
  readonly intake: Pick<Intake, 'forward'>;
  /** The run, made if nobody knows it. */
  readonly ensureRun: (draft: RunDraft) => Promise<RunRecord>;
  readonly checkInput?: CheckInput | undefined;
}

/** `lapsed`: it is no longer ours, and was left as it is. Throws when the message must come again. */
export type TakeIn = (message: IntakeMessage, submitted?: ParsedSubmission) => Promise<'taken' | 'lapsed'>;

export function createTakeIn({ ledger, queue, intake, ensureRun, checkInput }: TakeInPorts): TakeIn {
  return async (message, submitted) => {
    const { headerRun, scraper } = message;
    if (!message.isHeld()) return 'lapsed';
    if (headerRun === undefined) return takeTasks(message, submitted ?? message.parse());
    // Work of a run waits under the run's subject, wherever it was sent to.
    await ensureRun({ id: headerRun, scraper, standing: false });
    await message.forwardWhole(headerRun);
    return 'taken';
  };

  async function takeTasks(
    message: IntakeMessage,
    { requests, problems, duplicates, budget }: ParsedSubmission,
  ): Promise<'taken' | 'lapsed'> {
    const { seq, at } = message;
    const home = homeOf(message);
    const run = home.id;
    const { own, others } = splitByRun(requests, run);
    await forwardOthers(message, others, budget);

    const isLate = isEnded(await ensureRun(home));
    const records: Acceptable[] = [];
    for (const request of budget ? await withinBudget(ledger, own, { run, budget }) : own) {
      // Without a schema there is nothing to wait for; and there may be thousands in one message.
      const checking = isLate ? undefined : checkInput?.(request.scraper, request.input);
      const problem = checking && (await checking);
      const recordOf = isLate ? lateRecord : problem === undefined ? queuedRecord : refusedRecord(problem);
      records.push(recordOf(request, { run, seq, at }));
    }
    for (const problem of problems) {
      const grave = problem.run ?? run;
      if (grave !== run) await ensureRun({ id: grave, scraper: home.scraper, standing: false });
      records.push(graveRecord(problem, { run: grave, seq, at }));
    }
    if (!message.isHeld()) return 'lapsed';
    const accepted = await acceptAll(ledger, records, message);
    const counted = await countDuplicates(message, accepted, { run, duplicates });
    if (!counted || !message.isHeld()) return 'lapsed';
    await queue.enqueue(accepted.ready);
    return 'taken';
  }

  async function forwardOthers(
    { scraper, seq }: IntakeMessage,
    others: ReadonlyMap<string, readonly ParsedRequest[]>,
    budget: ParsedSubmission['budget'],
  ): Promise<void> {
    for (const [run, tasks] of others) {
      await ensureRun({ id: run, scraper, standing: false });
      await intake.forward(tasks, { scraper, run, seq, budget });
    }
  }

  async function countDuplicates(
    message: IntakeMessage,
    accepted: Accepted,
    inMessage: { readonly run: string; readonly duplicates: number },
  ): Promise<boolean> {
    const byRun = new Map(accepted.known);
    byRun.set(inMessage.run, (byRun.get(inMessage.run) ?? 0) + inMessage.duplicates);
    for (const [run, duplicates] of byRun) {
      if (duplicates === 0) continue;
      const mayCount = (): boolean => message.isHeld();
      if (!(await ledger.countDuplicates({ run, duplicates, intake: message.seq, mayCount }))) return false;
    }
    return true;
  }
}

function splitByRun(
  requests: readonly ParsedRequest[],
  home: string,
): { own: readonly ParsedRequest[]; others: ReadonlyMap<string, readonly ParsedRequest[]> } {
  const own: ParsedRequest[] = [];
  const others = new Map<string, ParsedRequest[]>();
  for (const request of requests) {
    const run = request.run ?? home;
    if (run === home) own.push(request);
    else if (!others.get(run)?.push(request)) others.set(run, [request]);
  }
  return { own, others };
}
