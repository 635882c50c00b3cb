/**
 * A service of Docker Swarm. An update carries the version that was read; Docker refuses an old one. Swarm lets nobody
 * choose which task goes, so on the way down the least busy drain and end first (with `restart_policy: on-failure`
 * they stay ended), and the number is lowered to those that are left.
 */
import { Failure } from '../domain/failure.ts';
import type { ApiAnswer, ApiClient } from '../http/api-client.ts';
import { pickToDrain } from '../policy/autoscale/pick-worker.ts';
import type { ScaleDriver, WorkerControl } from './driver.ts';
import { readNumber, readObject, readText } from './read-field.ts';

export interface SwarmDriverOptions {
  readonly api: ApiClient;
  readonly service: string;
  readonly drainWaitMs: number;
  readonly control: Pick<WorkerControl, 'drain' | 'untilIdle'>;
}

interface Service {
  readonly id: string;
  readonly version: number;
  readonly spec: object;
  readonly mode: object;
  readonly replicated: object;
  readonly replicas: number;
}

const TRIES = 5;

export function createSwarmDriver({ api, service, drainWaitMs, control }: SwarmDriverOptions): ScaleDriver {
  return {
    name: 'swarm',
    count: async () => (await read()).replicas,
    async apply({ from, to, workers }, signal) {
      const ids = pickToDrain(workers, from - to).map(({ id }) => id);
      for (const id of ids) await control.drain(id);
      await control.untilIdle(ids, drainWaitMs, signal);
      await setReplicas(to, signal);
    },
    close: () => api.close(),
  };

  async function setReplicas(replicas: number, signal: AbortSignal): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      const now = await read();
      if (now.replicas === replicas) return;
      signal.throwIfAborted();
      const answer = await api.send({
        method: 'POST',
        path: `/services/${now.id}/update?version=${now.version}`,
        body: { ...now.spec, Mode: { ...now.mode, Replicated: { ...now.replicated, Replicas: replicas } } },
      });
      if (!isOutOfSequence(answer) || left === 1) {
        expect(answer, 'scale');
        return;
      }
    }
  }

  async function read(): Promise<Service> {
    const body = expect(
      await api.send({ method: 'GET', path: `/services/${encodeURIComponent(service)}` }),
      'show',
    );
    const spec = readObject(body, 'Spec');
    const mode = readObject(body, 'Spec', 'Mode');
    const replicated = readObject(body, 'Spec', 'Mode', 'Replicated');
    const replicas = readNumber(body, 'Spec', 'Mode', 'Replicated', 'Replicas');
    const version = readNumber(body, 'Version', 'Index');
    const id = readText(body, 'ID');
    if (!spec || !mode || !replicated || replicas === undefined || version === undefined || id === undefined)
      throw new Failure('REJECTED', `the service ${service} of Docker Swarm is not a replicated one`);
    return { id, version, spec, mode, replicated, replicas };
  }

  function expect({ status, body }: ApiAnswer, what: string): unknown {
    if (status >= 200 && status < 300) return body;
    const why = readText(body, 'message') ?? `status ${status}`;
    throw new Failure('REJECTED', `Docker did not ${what} the service ${service}: ${why}`);
  }
}

/** Docker tells it by its words alone, with a status that others have too. */
function isOutOfSequence({ status, body }: ApiAnswer): boolean {
  return status >= 400 && /out of sequence/i.test(readText(body, 'message') ?? '');
}
