/** `trawl supervise`: the background process of a local cluster. `trawl up` starts it; people have no use for it. */
import { planCluster } from '../../cluster/topology.ts';
import { Secret } from '../../domain/secret.ts';
import { runSupervisor } from '../../local/supervise.ts';
import type { LocalAccess } from '../../local/access.ts';
import { applyTopology } from '../../nats/apply-topology.ts';
import { connectNats } from '../../nats/connect.ts';
import { readFileSync } from 'node:fs';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { forgetForeignConnection } from '../local-cluster.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  forgetForeignConnection(process.env);
  const code = await runSupervisor({ log: context.log, prepare: (access) => prepare(context, access) });
  return code === 0 ? EXIT.ok : EXIT.failure;
}

async function prepare({ config, log }: CommandContext, access: LocalAccess): Promise<void> {
  const { url, user, passwordFile } = access;
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
  } finally {
    await connection.close();
  }
}
