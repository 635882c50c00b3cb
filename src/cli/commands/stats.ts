/** `trawl stats`: how many tasks are where, of one run or of all. */
import type { Command } from '../command.ts';

export const statsCommand: Command = {
  usage: 'stats [run]',
  describe: 'Show how many tasks are queued, running, deferred, done, dead and cancelled',
  examples: [
    ['$0 stats', 'Of the whole cluster'],
    ['$0 stats friday --json', 'Of one run, for a script'],
  ],
  sections: ['nats', 'general'],
  single: 'coordinator',
  options: (yargs) => yargs.positional('run', { type: 'string' }),
  load: () => import('../effects/stats.ts'),
};
