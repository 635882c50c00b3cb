/** `trawl dead`: what failed for good, why, and what to do with it: put it back, or forget it. */
import type { Command } from '../command.ts';

export const deadCommand: Command = {
  usage: 'dead <action> [task]',
  describe: 'Look at dead tasks, put them back into the queue, or forget them',
  examples: [
    ['$0 dead ls --run friday', 'How many, by error, and the latest of them'],
    ['$0 dead show 3kf0… --run friday', 'One of them, with its attempts'],
    ['$0 dead retry 3kf0… --run friday', 'Put one back'],
    ['$0 dead retry --run friday --code TIMEOUT --rate 50', 'Put them back, 50 a second'],
    ['$0 dead drop --scraper prices --since 7d --dry-run', 'How many it would be'],
  ],
  sections: ['nats', 'general'],
  single: 'coordinator',
  options: (yargs) =>
    yargs
      .positional('action', { choices: ['ls', 'show', 'retry', 'drop'] as const, demandOption: true })
      .positional('task', { type: 'string' })
      .option('run', { type: 'string', describe: 'Only of this run' })
      .option('scraper', { type: 'string', describe: 'Only of this scraper' })
      .option('code', { type: 'string', describe: 'Only with this error: TIMEOUT, NETWORK, …' })
      .option('since', {
        type: 'string',
        describe: 'Only those that died within this time: 90s, 15m, 1h, 7d',
      })
      .option('limit', { type: 'string', describe: 'At most so many' })
      .option('dry-run', { type: 'boolean', default: false, describe: 'Only count (retry, drop)' })
      .option('rate', { type: 'string', describe: 'At most so many a second (retry)' }),
  load: () => import('../effects/dead.ts'),
};
