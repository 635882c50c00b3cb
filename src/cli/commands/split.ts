/** `trawl split`: a list of tasks in parts, for machines that work on their own. */
import { PARTITIONINGS } from '../../policy/partition.ts';
import type { Command } from '../command.ts';

export const splitCommand: Command = {
  usage: 'split <file>',
  describe: 'Split a list of tasks into parts by host; no host is ever in two of them',
  examples: [
    [
      '$0 split urls.txt --shards 5',
      'urls-1.txt to urls-5.txt; a sixth part later moves a sixth of the hosts',
    ],
    ['$0 split urls.txt --shards 3 --by balanced', 'Parts with about as many tasks each'],
  ],
  sections: ['general'],
  options: (yargs) =>
    yargs
      .positional('file', { type: 'string', demandOption: true, describe: 'One URL or JSON object per line' })
      .option('shards', { type: 'string', nargs: 1, demandOption: true, describe: 'How many parts' })
      .option('by', {
        choices: PARTITIONINGS,
        default: 'rendezvous' as const,
        describe: 'By the hash of the host, in turn, all hosts of a site together, or by the number of tasks',
      }),
  load: () => import('../effects/split.ts'),
};
