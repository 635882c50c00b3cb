/** `trawl run`: makes a run of a whole list, however long, and may wait for its end. */
import type { Command } from '../command.ts';

export const runCommand: Command = {
  usage: 'run <scraper>',
  describe: 'Make a run of a list of tasks of any length',
  examples: [
    ['$0 run prices --urls-file urls.txt', 'One URL or JSON object per line; # begins a comment'],
    [
      'zcat urls.gz | $0 run prices --urls-file - --run-id friday --wait',
      'From stdin; ends when the run has ended',
    ],
    ['$0 run prices --urls-file urls.txt --json', 'status, run_id, enqueued and worker_command'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('scraper', { type: 'string', demandOption: true })
      .option('urls-file', { type: 'string', nargs: 1, demandOption: true, describe: 'The list; - is stdin' })
      .option('run-id', { type: 'string', describe: 'Name of the run; without it, the time' })
      .option('priority', { type: 'string', describe: '0 to 9; higher goes first' })
      .option('wait', {
        type: 'boolean',
        default: false,
        describe: 'Wait for the end; exit code 4 if tasks are dead',
      }),
  load: () => import('../effects/run.ts'),
};
