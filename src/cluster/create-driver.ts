/** The driver that the configuration names. Loaded when it is wanted: nobody waits for what the others need. */
import { readFileSync } from 'node:fs';
import { Failure, messageOf } from '../domain/failure.ts';
import type { ScaleDriver } from '../drivers/driver.ts';
import { createNoDriver } from '../drivers/none.ts';
import type { ApiClient } from '../http/api-client.ts';
import { layoutOf } from '../local/home.ts';
import { createWorkerControl } from '../nats/worker-control.ts';
import type { ActorParts } from './roles.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const KUBERNETES = 'https://kubernetes.default.svc';
const DOCKER = 'unix:///var/run/docker.sock';

export async function createDriver(parts: ActorParts): Promise<ScaleDriver> {
  const { autoscale, home, local } = parts.config;
  const { driver, command = '', target = '', drainWait: drainWaitMs } = autoscale;
  const control = createWorkerControl(parts);
  switch (driver) {
    case 'none':
      return createNoDriver();
    case 'process': {
      const { createProcessDriver } = await import('../drivers/process.ts');
      return createProcessDriver({
        socket: layoutOf(home).socket,
        control,
        perMachine: local.workersPerMachine,
      });
    }
    case 'command': {
      const { createCommandDriver } = await import('../drivers/command.ts');
      return createCommandDriver({ command, drainWaitMs, control });
    }
    case 'kubernetes': {
      const { createKubernetesDriver } = await import('../drivers/kubernetes.ts');
      const api = await openKubernetes(parts);
      return createKubernetesDriver({
        api,
        namespace: autoscale.namespace,
        deployment: target,
        drainWaitMs,
        control,
      });
    }
    case 'swarm': {
      const { createSwarmDriver } = await import('../drivers/swarm.ts');
      const { createApiClient } = await import('../http/api-client.ts');
      const ca = autoscale.caFile === undefined ? undefined : readFile(autoscale.caFile);
      const api = createApiClient({ url: autoscale.apiUrl ?? DOCKER, ca });
      return createSwarmDriver({ api, service: target, drainWaitMs, control });
    }
  }
}

async function openKubernetes({ config: { autoscale } }: ActorParts): Promise<ApiClient> {
  const { createApiClient } = await import('../http/api-client.ts');
  const { apiUrl, tokenFile, caFile } = autoscale;
  // Inside a pod both files are there; an API without TLS needs no authority.
  const url = apiUrl ?? KUBERNETES;
  const ca = caFile ?? (apiUrl === undefined ? `${SERVICE_ACCOUNT}/ca.crt` : undefined);
  const token = tokenFile ?? (apiUrl === undefined ? `${SERVICE_ACCOUNT}/token` : undefined);
  return createApiClient({
    url,
    ...(ca !== undefined && { ca: readFile(ca) }),
    // Tokens are exchanged under a running pod.
    ...(token !== undefined && { token: () => readFile(token).trim() }),
  });
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure('INVALID', `${path} cannot be read: ${messageOf(error)}`, {
      hint: 'autoscale.tokenFile and autoscale.caFile say where they are.',
    });
  }
}
