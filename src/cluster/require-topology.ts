/** Streams and buckets must be there before an actor works: a coordinator creates what is missing, others ask for it. */
import type { Config } from '../config/fields.ts';
import { Failure } from '../domain/failure.ts';
import type { Role } from '../domain/role.ts';
import { applyTopology, compareTopology, describeDrift } from '../nats/apply-topology.ts';
import type { Connection } from '../nats/connect.ts';
import type { Log } from '../telemetry/log.ts';
import { planCluster } from './topology.ts';

export async function requireTopology(
  connection: Connection,
  { config, role, log }: { config: Config; role: Role; log: Log },
): Promise<void> {
  const topology = planCluster(config);
  if (role === 'coordinator') {
    const changes = await applyTopology(connection, topology, { onDrift: 'keep' });
    for (const { action, name, drift } of changes) {
      if (action === 'created') log.info('topology.created', { name });
      else if (drift.length > 0) log.warn('topology.drifted', { name, drift: drift.map(describeDrift) });
    }
    return;
  }
  const missing = (await compareTopology(connection, topology)).filter(({ state }) => state === 'missing');
  if (missing.length === 0) return;
  throw new Failure('UNAVAILABLE', `NATS lacks ${missing.map(({ name }) => name).join(', ')}`, {
    hint: 'Start a coordinator, or run `trawl topology apply`.',
  });
}
