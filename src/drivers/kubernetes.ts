/**
 * A Deployment of Kubernetes, through its scale. The version that was read goes back with the change, so nobody's change
 * in between is lost. On the way down the pods of the least busy are marked as the cheapest to delete; they take no
 * more, and have the time to finish, before the number is lowered. A pod counts as a worker's where its name is the
 * worker's host, which is what Kubernetes does unless it is told otherwise.
 */
import { Failure } from '../domain/failure.ts';
import type { WorkerSnapshot } from '../domain/snapshot.ts';
import type { ApiAnswer, ApiClient } from '../http/api-client.ts';
import { pickToDrain } from '../policy/autoscale/pick-worker.ts';
import type { ScaleDriver, WorkerControl } from './driver.ts';
import { readNumber, readText } from './read-field.ts';

export interface KubernetesDriverOptions {
  readonly api: ApiClient;
  readonly namespace: string;
  readonly deployment: string;
  readonly drainWaitMs: number;
  readonly control: Pick<WorkerControl, 'pause' | 'untilIdle'>;
}

const TRIES = 5;
const CONFLICT = 409;
const CHEAP = { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-1000' } } };

export function createKubernetesDriver(options: KubernetesDriverOptions): ScaleDriver {
  const { api, namespace, deployment, drainWaitMs, control } = options;
  const scalePath = `/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}/scale`;
  return {
    name: 'kubernetes',
    count: async () => (await readScale()).replicas,
    async apply({ from, to, workers }, signal) {
      if (to < from) await prepare(pickToDrain(workers, from - to), signal);
      signal.throwIfAborted();
      await setReplicas(to, signal);
    },
    close: () => api.close(),
  };

  async function readScale(): Promise<{ body: object; replicas: number }> {
    const answer = expect(await api.send({ method: 'GET', path: scalePath }), 'read');
    return { body: answer as object, replicas: readNumber(answer, 'spec', 'replicas') ?? 0 };
  }

  async function setReplicas(replicas: number, signal: AbortSignal): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      const scale = await readScale();
      if (scale.replicas === replicas) return;
      signal.throwIfAborted();
      // Whole, as it was read: with its resourceVersion, by which the server sees whether somebody was faster.
      const body = {
        ...scale.body,
        spec: { ...('spec' in scale.body ? (scale.body.spec as object) : {}), replicas },
      };
      const answer = await api.send({ method: 'PUT', path: scalePath, body });
      if (answer.status !== CONFLICT || left === 1) {
        expect(answer, 'scale');
        return;
      }
    }
  }

  async function prepare(victims: readonly WorkerSnapshot[], signal: AbortSignal): Promise<void> {
    const marked: string[] = [];
    for (const { id, host } of victims) {
      const path = `/api/v1/namespaces/${namespace}/pods/${host}`;
      const answer = await api.send({
        method: 'PATCH',
        path,
        body: CHEAP,
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      if (answer.status >= 300) continue; // not a pod's name: Kubernetes chooses by its own rules
      await control.pause(id);
      marked.push(id);
    }
    await control.untilIdle(marked, drainWaitMs, signal);
  }

  function expect({ status, body }: ApiAnswer, what: string): unknown {
    if (status >= 200 && status < 300) return body;
    const why = readText(body, 'message') ?? `status ${status}`;
    const hint =
      status === 403 || status === 401
        ? 'The service account needs get and update on deployments/scale, and patch on pods.'
        : undefined;
    throw new Failure('REJECTED', `Kubernetes did not ${what} the Deployment ${deployment}: ${why}`, {
      hint,
    });
  }
}
