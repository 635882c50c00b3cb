/** `trawl config`: every setting, its value, and where that came from. */
import type { Command } from '../command.ts';

export const configCommand: Command = {
  usage: 'config',
  describe: 'Show every setting, its value and where it came from',
  examples: [
    ['$0 config', 'What a command started here would use'],
    ['$0 config --json', 'The same for a script'],
  ],
  sections: [],
  load: () => import('../effects/config.ts'),
};
