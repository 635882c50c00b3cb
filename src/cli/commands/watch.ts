/** `trawl watch`: follows a run until it has ended. */
import type { Command } from '../command.ts';

export const watchCommand: Command = {
  usage: 'watch <run>',
  describe: 'Follow a run until it has ended; exit code 4 if tasks are dead',
  examples: [
    ['$0 watch friday', 'A bar on a terminal, a line per change in a pipe'],
    ['$0 watch friday --json', 'A JSON document per change, one per line'],
  ],
  sections: ['nats', 'general'],
  single: 'running',
  options: (yargs) => yargs.positional('run', { type: 'string', demandOption: true }),
  load: () => import('../effects/watch.ts'),
};
