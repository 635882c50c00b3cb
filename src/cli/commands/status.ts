/** `trawl status`: every actor of the cluster with state, pid, uptime, work in flight and last beat. */
import type { Command } from '../command.ts';

export const statusCommand: Command = {
  usage: 'status',
  describe: 'Show every actor: state, pid, uptime, work in flight, last beat',
  examples: [
    ['$0 status', 'Of the local cluster, or of the one that nats.url names'],
    ['$0 status --json', 'The same for a script'],
  ],
  sections: ['nats', 'general'],
  load: () => import('../effects/status.ts'),
};
