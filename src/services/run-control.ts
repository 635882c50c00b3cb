/** Pausing, resuming and removing runs. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { Pauses } from '../nats/pauses.ts';
import type { Runs } from '../nats/runs.ts';
import { changeRun, isEnded, phaseOf, withPhase, type RunEvent } from '../policy/run-state.ts';
import type { RunRecord } from '../wire/run-record.ts';
import { readRequest } from './read-request.ts';

export interface RunControlPorts {
  readonly runs: Runs;
  readonly pauses: Pauses;
  /** Removes the records of a run's tasks and then the run itself; how many records there were. */
  readonly erase: (run: string) => Promise<number>;
}

const request = v.object({ run: v.string() });

export function createRunControlServices({ runs, pauses, erase }: RunControlPorts): Record<string, Verb> {
  return {
    async 'run.pause'(body) {
      const { run } = readRequest(request, body);
      const changed = await change(run, { kind: 'pause' });
      // The run's own state keeps it from being fed; the flag holds back what is in the queue already.
      await pauses.pause('run', run);
      return changed;
    },
    async 'run.resume'(body) {
      const { run } = readRequest(request, body);
      const changed = await change(run, { kind: 'resume' });
      await pauses.resume('run', run);
      return changed;
    },
    async 'run.remove'(body) {
      const { run } = readRequest(request, body);
      const record = await runs.get(run);
      if (!record) throw unknown(run);
      if (!isEnded(record)) {
        throw new Failure('CONFLICT', `the run ${run} is ${record.state}`, {
          hint: 'Cancel it first: `trawl cancel`.',
        });
      }
      return { removed: await erase(run) };
    },
  };

  async function change(id: string, event: RunEvent): Promise<RunRecord> {
    let refusal: string | undefined;
    const changed = await runs.change(id, (run) => {
      const transition = changeRun(phaseOf(run), event);
      refusal = transition.ok ? undefined : transition.problem;
      return transition.ok ? withPhase(run, transition.phase) : undefined;
    });
    if (changed) return changed;
    throw refusal === undefined ? unknown(id) : new Failure('CONFLICT', refusal);
  }
}

function unknown(run: string): Failure {
  return new Failure('INVALID', `there is no run ${run}`, { hint: '`trawl runs ls` shows them.' });
}
