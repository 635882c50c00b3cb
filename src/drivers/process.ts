/**
 * Workers of the local cluster: its supervisor starts them, and lets go those that drain. Workers that somebody else
 * started count, but are neither started nor ended here.
 */
import { Failure, messageOf } from '../domain/failure.ts';
import type { WorkerSnapshot } from '../domain/snapshot.ts';
import { askSupervisor } from '../local/ask-supervisor.ts';
import type { ControlRequest } from '../local/messages.ts';
import type { ChildState, ClusterState } from '../local/state.ts';
import { pickToDrain } from '../policy/autoscale/pick-worker.ts';
import type { ScaleChange, ScaleDriver, WorkerControl } from './driver.ts';

export interface ProcessDriverOptions {
  /** The control socket of the supervisor. */
  readonly socket: string;
  readonly control: Pick<WorkerControl, 'drain'>;
  /** Workers on this machine at most; 0: no limit. */
  readonly perMachine: number;
}

const ANSWER_MAX_MS = 5_000;
const START_MAX_MS = 60_000;
const RUNS: ReadonlySet<ChildState['state']> = new Set(['starting', 'up', 'restarting']);

export function createProcessDriver({ socket, control, perMachine }: ProcessDriverOptions): ScaleDriver {
  let elsewhere = 0; // at the last count
  return {
    name: 'process',
    async count(workers) {
      const state = await ask({ op: 'status' }, ANSWER_MAX_MS);
      // One that somebody drains is a process still, and a worker no more.
      const draining = new Set(workers.filter(({ status }) => status === 'draining').map(({ id }) => id));
      const own = ownOf(state).filter(({ name }) => !draining.has(name));
      elsewhere = strangers(state, workers).length;
      return own.length + elsewhere;
    },
    most: () => (perMachine === 0 ? undefined : perMachine + elsewhere),
    async apply(change) {
      if (change.to > change.from) await add(change);
      else await sendAway(change);
    },
    close: () => Promise.resolve(),
  };

  async function add({ from, to }: ScaleChange): Promise<void> {
    if (perMachine > 0 && to > perMachine + elsewhere)
      throw new Failure('INVALID', `no more than ${perMachine} workers may run on this machine`, {
        hint: 'local.workersPerMachine is the limit; start the others elsewhere with `trawl worker`.',
      });
    await ask({ op: 'add-workers', count: to - from }, START_MAX_MS);
  }

  async function sendAway({ from, to, workers }: ScaleChange): Promise<void> {
    const own = new Set(ownOf(await ask({ op: 'status' }, ANSWER_MAX_MS)).map(({ name }) => name));
    const victims = pickToDrain(
      workers.filter(({ id }) => own.has(id)),
      from - to,
    );
    if (victims.length === 0) throw new Failure('REJECTED', 'none of the workers is ours to end');
    for (const { id } of victims) {
      await control.drain(id);
      // Only now: one that was let go and does not drain would be nobody's.
      await ask({ op: 'let-go', name: id }, ANSWER_MAX_MS);
    }
  }

  async function ask(request: ControlRequest, limitMs: number): Promise<ClusterState> {
    const asked = await askSupervisor(socket, request, { limitMs });
    switch (asked.kind) {
      case 'answered':
        return asked.state;
      case 'failed':
        throw new Failure(asked.failure.code, `the supervisor refused: ${messageOf(asked.failure)}`);
      case 'nobody':
      case 'lost':
      case 'silent':
        throw new Failure('NETWORK', 'the supervisor of the local cluster does not answer', {
          hint: 'Only an autoscaler that `trawl up` started has one.',
        });
    }
  }
}

function ownOf({ children }: ClusterState): ChildState[] {
  return children.filter(({ role, state }) => role === 'worker' && RUNS.has(state));
}

function strangers({ children }: ClusterState, workers: readonly WorkerSnapshot[]): WorkerSnapshot[] {
  const known = new Set(children.map(({ name }) => name));
  return workers.filter(
    ({ id, status }) => !known.has(id) && (status === 'running' || status === 'initializing'),
  );
}
