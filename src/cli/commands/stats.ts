/** `trawl stats`: how many tasks are where, of one run or of all. */
import type { Command } from '../command.ts';
import { runArgument } from '../run-argument.ts';

export const statsCommand: Command = {
  usage: 'stats [RUN]',
  describe: 'Show how many tasks are queued, running, deferred, done, dead and cancelled',
  examples: [
    ['$0 stats', 'Of the whole cluster'],
    ['$0 stats friday --json', 'Of one run, for a script'],
  ],
  sections: ['nats', 'general'],
  single: 'coordinator',
  options: runArgument,
  load: () => import('../effects/stats.ts'),
};
