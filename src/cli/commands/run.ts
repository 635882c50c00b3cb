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
    ['$0 run prices --urls-file urls.txt --single', 'Here and now, without a cluster; ends with the run'],
    ['$0 run prices --resume', 'Goes on with the last such run that did not come to its end'],
  ],
  sections: ['nats', 'general', 'worker'],
  options: (yargs) =>
    yargs
      .positional('scraper', { type: 'string', demandOption: true })
      .option('urls-file', {
        type: 'string',
        nargs: 1,
        describe: 'The list; - is stdin. Without it, the start of the template',
      })
      .option('run-id', { type: 'string', describe: 'Name of the run; without it, the time' })
      .option('priority', { type: 'string', describe: '0 to 9; higher goes first' })
      .option('drop-tracking', {
        type: 'boolean',
        default: false,
        describe: 'Leave out utm_source, gclid and the like; the URL as it was is kept in rawUrl',
      })
      .option('wait', {
        type: 'boolean',
        default: false,
        describe: 'Wait for the end; exit code 4 if tasks are dead',
      })
      .option('single', {
        type: 'boolean',
        default: false,
        describe: 'Run it in this process, whatever the registry says',
      })
      .option('distributed', {
        type: 'boolean',
        default: false,
        describe: 'Run it on the cluster, whatever the registry says',
      })
      .option('resume', {
        type: 'string',
        describe: 'Go on with a single run that was cut off: this one, or the last one of the scraper',
      })
      .option('data', {
        type: 'string',
        nargs: 1,
        describe: 'Folder of a single run; without it .trawl/single/RUN',
      }),
  load: () => import('../effects/run.ts'),
};
