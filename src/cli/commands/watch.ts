/** `trawl watch`: follows a run until it has ended. */
import { requireText } from '../arguments.ts';
import type { Command } from '../command.ts';
import { followRun } from '../follow-run.ts';
import { withClient } from '../with-connection.ts';
import { describeEnd, exitOf } from './run.ts';

export const watchCommand: Command = {
  usage: 'watch <run>',
  describe: 'Follow a run until it has ended; exit code 4 if tasks are dead',
  examples: [
    ['$0 watch friday', 'A bar on a terminal, a line per change in a pipe'],
    ['$0 watch friday --json', 'A JSON document per change, one per line'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) => yargs.positional('run', { type: 'string', demandOption: true }),
  run: (context) =>
    withClient(context, 'watch', async ({ ask }) => {
      const { argv, output } = context;
      const ended = await followRun({ ask, run: requireText(argv, 'run', 'trawl watch RUN'), output });
      // In JSON the last line of the following has said it already.
      if (!output.json) output.result(ended, describeEnd(ended));
      return exitOf(ended);
    }),
};
