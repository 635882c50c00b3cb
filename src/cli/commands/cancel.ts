/** `trawl cancel`: ends a run, or one task of it, for good. */
import type { Command } from '../command.ts';

export const cancelCommand: Command = {
  usage: 'cancel <run> [task]',
  describe: 'Cancel a run, or one task of it; what is done stays',
  examples: [
    ['$0 cancel friday', 'The run and all that is left of it'],
    ['$0 cancel friday 3kf0…', 'One task; exit code 1 if it has an outcome already'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs.positional('run', { type: 'string', demandOption: true }).positional('task', { type: 'string' }),
  load: () => import('../effects/cancel.ts'),
};
