/** A proxy-manager as a process of its own, and somebody who asks it for leave and gives it back. */
import { createEgressClient, type EgressClient } from '../../../src/nats/egress-client.ts';
import { createServices } from '../../../src/nats/services-client.ts';
import { reportOf, want } from '../../kit/proxy-managers.ts';
import { untilTrue, type Stage } from '../stage.ts';
import { names } from './ledger-check.ts';

export const GRANT = 50;
const CHUNK = 1_000;

export type Services = ReturnType<typeof createServices>;

export async function startManager({ startActor, connection }: Stage): Promise<Services> {
  startActor('proxy-manager');
  const services = createServices(connection, names);
  await untilTrue(
    async () => (await services.call('proxies.ls', { limit: 1 }).catch(() => undefined)) !== undefined,
  );
  return services;
}

export async function addProxies(services: Services, count: number, perHour: number): Promise<void> {
  for (let from = 0; from < count; from += CHUNK) {
    const proxies = Array.from({ length: Math.min(CHUNK, count - from) }, (_, n) => ({
      url: `http://127.0.0.1:${10_000 + from + n}`,
      id: `p${from + n}`,
      perHour,
    }));
    await services.call('proxies.add', { proxies }, { timeoutMs: 30_000 });
  }
}

/** Asks for 50 requests and gives them back, so that the pool is always the same; how long the answer took. */
export async function grantOnce(client: EgressClient, worker: string, host?: string): Promise<number> {
  const began = performance.now();
  const wants = [want({ count: GRANT, slots: GRANT, ...(host !== undefined && { host }) })];
  const reply = await client.acquire({ worker, machine: 'm1', wants });
  const ms = performance.now() - began;
  const [answer] = reply?.answers ?? [];
  if (answer?.kind !== 'granted') throw new Error(`nothing was granted: ${JSON.stringify(answer)}`);
  await client.report(reportOf(worker, { done: answer.leases.map(({ id }) => id) }));
  return ms;
}

/** So many questions from a few askers at once, for hosts in turn. */
export async function askMany(
  { connection }: Stage,
  { questions, hosts, askers }: { questions: number; hosts: number; askers: number },
): Promise<void> {
  const client = createEgressClient(connection, names);
  let next = 0;
  await Promise.all(
    Array.from({ length: askers }, async (_, number) => {
      while (next < questions) {
        const host = `h${next % hosts}.example`;
        next += 1;
        await grantOnce(client, `asker-${number}`, host);
      }
    }),
  );
}
