/** `trawl topology diff|apply`: the streams, buckets and consumers against their definitions in nats/. */
import type { Command } from '../command.ts';

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
  load: () => import('../effects/topology.ts'),
};
