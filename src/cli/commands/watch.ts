/** `trawl watch`: follows a run until it has ended. */
import type { Command } from '../command.ts';
import { runArgument } from '../run-argument.ts';

export const watchCommand: Command = {
  usage: 'watch [RUN]',
  describe: 'Follow a run until it has ended; exit code 4 if tasks are dead',
  examples: [
    ['$0 watch friday', 'A bar on a terminal, a line per change in a pipe'],
    ['$0 watch friday --json', 'A JSON document per change, one per line'],
  ],
  sections: ['nats', 'general'],
  single: 'running',
  options: runArgument,
  load: () => import('../effects/watch.ts'),
};
