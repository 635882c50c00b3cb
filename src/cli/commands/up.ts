/** `trawl up`: start the local cluster, say what runs where and what to type next. */
import type { Command } from '../command.ts';

export const upCommand: Command = {
  usage: 'up',
  describe: 'Start the local cluster',
  examples: [
    ['$0 up', 'One nats-server, three workers'],
    ['$0 up --workers 8 --nodes 3', 'Three nats-servers with three copies of each stream'],
    ['$0 up --home .trawl-b --port-base 5222', 'A second cluster beside the first'],
  ],
  sections: ['local', 'autoscale', 'general', 'http'],
  load: () => import('../effects/up.ts'),
};
