/** Dead tasks, put back: into the ledger, into their run, into the queue, in this order, whoever dies in between. */
import { Failure } from '../domain/failure.ts';
import type { LedgerRecord, TaskMessage } from '../domain/task.ts';
import type { LedgerReader, LedgerWriter } from '../nats/ledger.ts';
import type { RedriveNotes } from '../nats/redrive-notes.ts';
import type { Runs } from '../nats/runs.ts';
import type { TaskQueue } from '../nats/task-queue.ts';
import { reopenRun } from '../policy/run-reopen.ts';

export interface RedrivePorts {
  readonly reader: Pick<LedgerReader, 'readMany'>;
  readonly writer: Pick<LedgerWriter, 'redrive'>;
  readonly queue: Pick<TaskQueue, 'enqueue'>;
  readonly runs: Pick<Runs, 'change'>;
  readonly notes: RedriveNotes;
  readonly now: () => number; // epoch ms
}

type Dead = Extract<LedgerRecord, { state: 'dead' }>;

export interface Redrive {
  /** How many were put back; the others were somebody else's. */
  putBack(found: readonly { readonly seq: number; readonly record: Dead }[]): Promise<number>;
  /** Puts into the queue what somebody put back who did not live to do so; how many there were. */
  finishLeft(): Promise<number>;
}

/** Longer than anybody who is alive takes. */
const LEFT_AFTER_MS = 30_000;

export function createRedrive({ reader, writer, queue, runs, notes, now }: RedrivePorts): Redrive {
  return {
    async putBack(found) {
      if (found.length === 0) return 0;
      const name = await notes.note(found.map(({ record }) => record.spec));
      const tasks = (await Promise.all(found.map(changeRecord))).flat();
      await ready(tasks);
      await notes.forget(name);
      return tasks.length;
    },
    async finishLeft() {
      let finished = 0;
      for (const { name, at, tasks } of await notes.list()) {
        if (now() - at < LEFT_AFTER_MS) continue;
        const open = await readOpen(tasks);
        await ready(open);
        await notes.forget(name);
        finished += open.length;
      }
      return finished;
    },
  };

  /** One compare-and-set per task: of two people who put it back at the same time, one does. */
  async function changeRecord({ seq, record }: { seq: number; record: Dead }): Promise<TaskMessage[]> {
    const { spec, faults } = record;
    const outcome = await writer.redrive({ state: 'queued', spec, at: now(), faults }, seq);
    if (outcome.kind === 'failed') throw new Failure('UNAVAILABLE', `the ledger refused: ${outcome.reason}`);
    return outcome.kind === 'refused' ? [] : [firstMessage(spec, outcome.seq)];
  }

  /** The runs first: a task that ends in a run that has ended would not be in its counts. */
  async function ready(tasks: readonly TaskMessage[]): Promise<void> {
    for (const run of new Set(tasks.map(({ spec }) => spec.run)))
      await runs.change(run, (record) => reopenRun(record, now()));
    await queue.enqueue(tasks);
  }

  async function readOpen(noted: readonly { run: string; id: string }[]): Promise<TaskMessage[]> {
    const open: TaskMessage[] = [];
    for (const run of new Set(noted.map((task) => task.run))) {
      const ids = noted.filter((task) => task.run === run).map(({ id }) => id);
      for (const { seq, record } of (await reader.readMany(run, ids)).values())
        if (record.state === 'queued') open.push(firstMessage(record.spec, seq));
    }
    return open;
  }
}

/** Its faults stay in the record; the new life starts with a clean sheet. */
function firstMessage(spec: TaskMessage['spec'], acceptSeq: number): TaskMessage {
  return { spec, acceptSeq, faults: [], triedProxies: [], deferrals: 0 };
}
