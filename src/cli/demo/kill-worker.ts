/** Kills one worker of the local cluster, the way a machine that runs out of memory does. */
import type { Counts } from '../../client/answers.ts';
import { Failure } from '../../domain/failure.ts';
import { signalProcess } from '../../local/process-identity.ts';
import { readLocalStatus } from '../../local/status.ts';

export interface Killed {
  readonly worker: string;
  readonly pid: number;
  /** Tasks that had their outcome by then. */
  readonly settled: number;
}

export async function killOneWorker(home: string, { done, dead }: Counts): Promise<Killed> {
  const { cluster } = await readLocalStatus(home);
  const worker = cluster?.children.find((child) => child.role === 'worker' && child.process);
  if (!worker?.process)
    throw new Failure('UNAVAILABLE', 'there is no worker on this machine to kill', {
      hint: '`make cluster-up` starts a cluster here.',
    });
  signalProcess(worker.process, 'SIGKILL');
  return { worker: worker.name, pid: worker.process.pid, settled: done + dead };
}
