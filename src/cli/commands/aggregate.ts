/** `trawl aggregate`: what a run brought, or all of them, summed up in groups. */
import { GROUPINGS } from '../../policy/aggregate.ts';
import type { Command } from '../command.ts';
import { runArgument } from '../run-argument.ts';

export const aggregateCommand: Command = {
  usage: 'aggregate [RUN]',
  describe: 'Sum up tasks, items, bytes and errors by scraper, host, status or kind of item',
  examples: [
    ['$0 aggregate', 'Of all runs, by scraper'],
    ['$0 aggregate friday --by host', 'Of one run, by the host of the page'],
    ['$0 aggregate friday --by kind --json', 'Items by their kind, for a script'],
  ],
  sections: ['nats', 'general'],
  single: 'server',
  options: (yargs) =>
    runArgument(yargs).option('by', {
      choices: GROUPINGS,
      default: 'scraper' as const,
      describe: 'What makes a group',
    }),
  load: () => import('../effects/aggregate.ts'),
};
