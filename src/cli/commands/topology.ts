/** `trawl topology diff|apply`: the streams, buckets and consumers against their definitions in nats/. */
import { applyTopology, compareTopology, describeDrift } from '../../nats/apply-topology.ts';
import { planCluster } from '../../cluster/topology.ts';
import type { Command, CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withConnection } from '../with-connection.ts';

export const topologyCommand: Command = {
  usage: 'topology <action>',
  describe: 'Compare streams, buckets and consumers with their definitions, or make them so',
  examples: [
    ['$0 topology diff', 'What is missing or differs; exit code 1 if anything does'],
    ['$0 topology apply', 'Create what is missing, change what differs'],
    ['$0 topology apply --nats-url nats://prod:4222 --nats-replicas 3', 'On a three-server cluster'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) => yargs.positional('action', { choices: ['diff', 'apply'] as const, demandOption: true }),
  run: (context) => (context.argv['action'] === 'apply' ? apply(context) : diff(context)),
};

async function diff(context: CommandContext): Promise<0 | 1> {
  const states = await withConnection(context, 'topology', (connection) =>
    compareTopology(connection, planCluster(context.config)),
  );
  const wrong = states.filter(({ state }) => state !== 'same');
  context.output.result(
    states,
    wrong.length === 0
      ? `${states.length} streams, buckets and consumers are as defined.`
      : wrong
          .map(
            ({ kind, name, state, drift }) =>
              `${kind} ${name} ${state}${drift.map((item) => `\n  ${describeDrift(item)}`).join('')}`,
          )
          .join('\n'),
  );
  return wrong.length === 0 ? EXIT.ok : EXIT.failure;
}

async function apply(context: CommandContext): Promise<0> {
  const changes = await withConnection(context, 'topology', (connection) =>
    applyTopology(connection, planCluster(context.config), { onDrift: 'update' }),
  );
  const done = changes.filter(({ action }) => action !== 'kept');
  context.output.result(
    changes,
    done.length === 0
      ? `Nothing to do: ${changes.length} streams, buckets and consumers are as defined.`
      : done
          .map(
            ({ kind, name, action, drift }) =>
              `${action} ${kind} ${name}${drift.map((item) => `\n  ${describeDrift(item)}`).join('')}`,
          )
          .join('\n'),
  );
  return EXIT.ok;
}
