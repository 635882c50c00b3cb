/** The streams of a cluster whose leases are all of one, short, length. */
import { planCluster } from '../../src/cluster/topology.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import type { Connection } from '../../src/nats/connect.ts';

const NS_PER_MS = 1_000_000;

export async function makeStreams(
  connection: Connection,
  { leaseMs, replicas = 1 }: { readonly leaseMs?: number; readonly replicas?: number } = {},
): Promise<void> {
  const nats = { replicas } as Parameters<typeof planCluster>[0]['nats'];
  const topology = planCluster({ namespace: 'trawl', nats });
  const consumers = topology.consumers.map((consumer) => ({
    ...consumer,
    settings: {
      ...consumer.settings,
      ...(leaseMs !== undefined && { ack_wait: leaseMs * NS_PER_MS }),
    },
  }));
  await applyTopology(connection, { ...topology, consumers }, { onDrift: 'keep' });
}
