/** `trawl down`: drain and stop the local cluster; `--clean` removes its data as well. */
import type { Command } from '../command.ts';

export const downCommand: Command = {
  usage: 'down',
  describe: 'Drain and stop the local cluster; its data stays',
  examples: [
    ['$0 down', 'Finish what is under way, then stop'],
    ['$0 down --clean', 'Stop, and remove data, logs and contexts'],
  ],
  sections: ['general'],
  options: (yargs) =>
    yargs.option('clean', { type: 'boolean', default: false, describe: 'Remove the data too' }),
  load: () => import('../effects/down.ts'),
};
