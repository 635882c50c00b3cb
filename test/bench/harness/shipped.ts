/** Whether what was measured is what is shipped: streams, consumers, settings of the actors, sync of the server. */
import { planCluster } from '../../../src/cluster/topology.ts';
import { describeConfig, loadConfig } from '../../../src/config/load.ts';
import { compareTopology, describeDrift } from '../../../src/nats/apply-topology.ts';
import type { Stage } from '../stage.ts';

/** Where the bench is, which says nothing about speed. */
const PLACES = ['nats.url', 'home', 'worker.scrapers', 'log.level', 'fetch.allowLoopback'];

/** Throws when anything else differs from the defaults than what the bench says it has changed. */
export async function checkShipped(stage: Stage, changed: readonly string[] = []): Promise<string> {
  const loaded = loadConfig({ flags: {}, env: { ...stage.env }, cwd: stage.home });
  const differs = describeConfig(loaded).filter(({ source }) => source.kind !== 'default');
  const wrong = differs.filter(({ path }) => ![...PLACES, ...changed].includes(path));
  if (wrong.length > 0)
    throw new Error(`these settings are not the shipped ones: ${wrong.map(({ path }) => path).join(', ')}`);
  const states = await compareTopology(stage.connection, planCluster(loaded.config));
  const drifted = states.filter(({ state }) => state !== 'same');
  if (drifted.length > 0)
    throw new Error(
      drifted
        .map(({ name, state, drift }) => `${name} ${state}: ${drift.map(describeDrift).join('; ')}`)
        .join('\n'),
    );
  const { jetstream } = (await (await fetch(`${stage.server.monitorUrl}/varz`)).json()) as {
    jetstream: { config: { sync_always?: boolean; sync_interval: number } };
  };
  const sync = jetstream.config.sync_always ? 'always' : `every ${jetstream.config.sync_interval / 1e9} s`;
  if (loaded.config.durability === 'always' && sync !== 'always')
    throw new Error(`the actors expect a sync with every answer, the server syncs ${sync}`);
  const own = differs.map(({ path }) => path).filter((path) => changed.includes(path));
  const told = own.length === 0 ? 'all settings as shipped' : `as shipped but for ${own.join(', ')}`;
  return `${states.length} streams and consumers as shipped, ${told}, server syncs ${sync}`;
}

export function natsVersion({ connection }: Stage): Readonly<Record<string, string>> {
  return { 'nats-server': connection.nc.info?.version ?? 'unknown' };
}
