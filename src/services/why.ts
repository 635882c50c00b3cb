/** `why`: where a task is and what it waits for, in sentences. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import type { LedgerRecord } from '../domain/task.ts';
import type { LedgerReader } from '../nats/ledger.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { Runs } from '../nats/runs.ts';
import { explainTask, type Whereabouts } from '../policy/explain-task.ts';
import { describeRecord } from '../wire/describe-record.ts';
import { readRequest } from './read-request.ts';

export interface WhyPorts {
  readonly reader: LedgerReader;
  readonly runs: Runs;
  /** What the queue, the workers and the flags know of it. */
  readonly locate: (spec: LedgerRecord['spec']) => Promise<Whereabouts>;
  readonly now: () => number;
}

const request = v.object({ id: v.string(), run: v.optional(v.string()) });

export function createWhyServices({ reader, runs, locate, now }: WhyPorts): Record<string, Verb> {
  return {
    async why(body) {
      const { id, run: given } = readRequest(request, body);
      const run = given ?? (await onlyRunOf(id));
      const stored = await reader.read(run, id);
      if (!stored) throw new Failure('INVALID', `the run ${run} has no task ${id}`);
      const { record } = stored;
      const runRecord = await runs.get(run);
      const whereabouts = record.state === 'queued' ? await locate(record.spec) : {};
      const explained = explainTask({ record, whereabouts, runState: runRecord?.state, now: now() });
      return { ...describeRecord(record), ...explained };
    },
  };

  async function onlyRunOf(id: string): Promise<string> {
    const known = await reader.findRuns(id);
    const [run] = known;
    if (run === undefined) throw new Failure('INVALID', `no run has a task ${id}`);
    if (known.length === 1) return run;
    throw new Failure('INVALID', `several runs have a task ${id}: ${known.join(', ')}`, {
      hint: 'Say which with --run.',
    });
  }
}
