/** Streams, buckets and consumers on a server of our own, before anybody works with it. */
import { readFileSync } from 'node:fs';
import { planCluster } from '../cluster/topology.ts';
import { Secret } from '../domain/secret.ts';
import type { LocalAccess } from '../local/access.ts';
import { applyTopology } from '../nats/apply-topology.ts';
import { connectNats, type Connection } from '../nats/connect.ts';
import type { CommandContext } from './command.ts';

/** `also` runs on the same connection, when everything is there. */
export async function prepareServer(
  { config, log }: Pick<CommandContext, 'config' | 'log'>,
  { url, user, passwordFile }: LocalAccess,
  also: (connection: Connection) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const password = new Secret(readFileSync(passwordFile, 'utf8').trim());
  const connection = await connectNats({
    access: { url, user, password },
    name: 'trawl up',
    log,
    whenUnreachable: 'fail',
  });
  try {
    const topology = planCluster({ ...config, nats: { ...config.nats, replicas: url.length } });
    await applyTopology(connection, topology, { onDrift: 'update' });
    await also(connection);
  } finally {
    await connection.close();
  }
}
