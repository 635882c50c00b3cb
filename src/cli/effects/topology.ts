/** `trawl topology diff|apply`: the streams, buckets and consumers against their definitions in nats/. */
import { applyTopology, compareTopology, describeDrift } from '../../nats/apply-topology.ts';
import { planCluster } from '../../cluster/topology.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withConnection } from '../with-connection.ts';

export function run(context: CommandContext): Promise<ExitCode> {
  return context.argv['action'] === 'apply' ? apply(context) : diff(context);
}

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
