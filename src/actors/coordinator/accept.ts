/** Accepts records in the ledger, and tells for each that was refused whether it is this message's own or somebody else's. */
import { Failure } from '../../domain/failure.ts';
import type { LedgerRecord, TaskMessage } from '../../domain/task.ts';
import type { Ledger } from './ports.ts';
import type { Acceptable, Origin } from './task-record.ts';

export interface Accepted {
  /** Accepted now, or by an earlier delivery of the same message, and waiting: these belong into the queue. */
  readonly ready: readonly TaskMessage[];
  /** Per run, how many were known before. */
  readonly known: ReadonlyMap<string, number>;
  readonly knownIds: ReadonlySet<string>;
}

/** Throws when the ledger does not take one of them, or does not tell. */
export async function acceptAll(
  ledger: Pick<Ledger, 'accept' | 'readMany'>,
  records: readonly Acceptable[],
  origin: Pick<Origin, 'seq' | 'at'>,
): Promise<Accepted> {
  const ready: TaskMessage[] = [];
  const refused = new Map<string, string[]>();
  const outcomes = await ledger.accept(records);
  for (const [index, outcome] of outcomes.entries()) {
    const record = records[index];
    if (!record) continue;
    const { run, id } = record.spec;
    if (outcome.kind === 'failed') throw new Failure('UNAVAILABLE', outcome.reason);
    if (outcome.kind === 'refused') {
      if (!refused.get(run)?.push(id)) refused.set(run, [id]);
    } else if (record.state === 'queued') ready.push(firstMessage(record.spec, outcome.seq));
  }

  const known = new Map<string, number>();
  const knownIds = new Set<string>();
  for (const [run, ids] of refused) {
    const stored = await ledger.readMany(run, ids);
    for (const id of ids) {
      const found = stored.get(id);
      // Another replica may not show yet what the first one refused.
      if (!found) throw new Failure('UNAVAILABLE', `task ${id} of run ${run} cannot be read yet`);
      if (!isOwn(found.record, origin)) {
        known.set(run, (known.get(run) ?? 0) + 1);
        knownIds.add(id);
      } else if (found.record.state === 'queued') ready.push(firstMessage(found.record.spec, found.seq));
    }
  }
  return { ready, known, knownIds };
}

/** The same at every delivery and in every state of the task: an intake that was made anew begins its sequence again, but not its time. */
function isOwn({ spec }: LedgerRecord, { seq, at }: Pick<Origin, 'seq' | 'at'>): boolean {
  return spec.intake === seq && spec.createdAt === at;
}

/** A task that has not been tried yet, as a worker gets it. */
function firstMessage(spec: TaskMessage['spec'], acceptSeq: number): TaskMessage {
  return { spec, acceptSeq, faults: [], triedProxies: [], deferrals: 0 };
}
