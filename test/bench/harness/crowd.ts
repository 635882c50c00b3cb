/** Several workers in one process, each with its own id, connection and heartbeat. Driven by peers/host.mjs. */
import { setMaxListeners } from 'node:events';
import { startCluster } from '../../../src/cluster/start-cluster.ts';
import { loadConfig } from '../../../src/config/load.ts';

export interface CrowdSettings {
  readonly ids: readonly string[];
  /** As of the actors of the stage. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export async function open({ ids, env, cwd }: CrowdSettings): Promise<object> {
  // Each of them listens for what nobody catches.
  setMaxListeners(2 * ids.length + 10, process);
  for (const id of ids) {
    const { config } = loadConfig({ flags: { 'actor.id': id }, env: { ...env }, cwd });
    await startCluster(config, { role: 'worker' });
  }
  return {};
}
