/** Cancelling: what waits never starts, what runs is told to stop, and each task still ends in exactly one outcome. */
import * as v from 'valibot';
import { Failure } from '../domain/failure.ts';
import type { Fault } from '../domain/task.ts';
import type { LedgerReader, LedgerWriter } from '../nats/ledger.ts';
import type { Verb } from '../nats/mailbox.ts';
import type { Runs } from '../nats/runs.ts';
import type { Log } from '../telemetry/log.ts';
import { changeRun, phaseOf, withPhase } from '../policy/run-state.ts';
import { readRequest } from './read-request.ts';

export interface CancelPorts {
  readonly runs: Runs;
  readonly reader: LedgerReader;
  readonly writer: LedgerWriter;
  /** Holds back what is in the queue: nothing of the run starts any more. */
  readonly holdBack: (run: string) => Promise<void>;
  /** Takes what waits of a run, or of one task, out of the queue and the intake. Large queues take a while. */
  readonly purge: (what: { run: string; id?: string }) => Promise<void>;
  /** The attempts that a task has behind it by now, where that is known. */
  readonly readCarried: (task: { run: string; id: string }) => Promise<readonly Fault[] | undefined>;
  readonly log: Log;
  /** Tells every worker. */
  readonly broadcast: (what: { run: string; id?: string }) => void;
  readonly now: () => number;
}

const runRequest = v.object({ run: v.string() });
const taskRequest = v.object({ run: v.string(), id: v.string() });

export function createCancelServices(ports: CancelPorts): Record<string, Verb> {
  const { runs, reader, writer, now } = ports;
  return {
    'run.cancel': (body) => cancelRun(readRequest(runRequest, body)),
    'task.cancel': (body) => cancelTask(readRequest(taskRequest, body)),
  };

  /** The leader settles the tasks that are left; whoever asks sees the run cancelled at once. */
  async function cancelRun({ run: id }: { run: string }): Promise<object> {
    let refusal: string | undefined;
    const changed = await runs.change(id, (run) => {
      const transition = changeRun(phaseOf(run), { kind: 'cancel' });
      if (!transition.ok) {
        refusal = transition.problem;
        return undefined;
      }
      return { ...withPhase(run, transition.phase), endedAt: now() };
    });
    if (!changed) throw new Failure('CONFLICT', refusal ?? `there is no run ${id}`);
    await ports.holdBack(id);
    stopWork({ run: id });
    return changed;
  }

  async function cancelTask({ run, id }: { run: string; id: string }): Promise<object> {
    const stored = await reader.read(run, id);
    if (!stored) throw new Failure('INVALID', `the run ${run} has no task ${id}`);
    const { seq, record } = stored;
    await writer.ensureCounted([stored]);
    if (record.state !== 'queued') return { cancelled: false, state: record.state };
    const { spec } = record;
    const faults = (await ports.readCarried({ run, id })) ?? record.faults;
    const outcome = await writer.settle(
      { state: 'cancelled', spec, faults, at: now(), reason: 'cancelled' },
      seq,
    );
    if (outcome.kind === 'failed') throw new Failure('UNAVAILABLE', `the ledger refused: ${outcome.reason}`);
    stopWork({ run, id });
    if (outcome.kind === 'stored') return { cancelled: true, state: 'cancelled' };
    return { cancelled: false, state: (await reader.read(run, id))?.record.state ?? 'unknown' };
  }

  /** Whoever asked need not wait for the clearing up: what is left of it is refused, or settled by the leader. */
  function stopWork(what: { run: string; id?: string }): void {
    ports.broadcast(what);
    ports
      .purge(what)
      .catch((error: unknown) => ports.log.warn('cancel.uncleared', { ...what, reason: error }));
  }
}
