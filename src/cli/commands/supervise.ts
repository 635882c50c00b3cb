/** `trawl supervise`: the background process of a local cluster. `trawl up` starts it; people have no use for it. */
import type { Command } from '../command.ts';

export const superviseCommand: Command = {
  usage: 'supervise',
  describe: false,
  examples: [],
  sections: [],
  load: () => import('../effects/supervise.ts'),
};
