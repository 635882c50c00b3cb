/** `trawl watch`: follows a run until it has ended. */
import { requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { followRun } from '../follow-run.ts';
import { withClient } from '../with-connection.ts';
import { describeEnd, exitOf } from '../run-summary.ts';

export function run(context: CommandContext): Promise<ExitCode> {
  return withClient(context, 'watch', async ({ ask }) => {
    const { argv, output } = context;
    const ended = await followRun({ ask, run: requireText(argv, 'run', 'trawl watch RUN'), output });
    // In JSON the last line of the following has said it already.
    if (!output.json) output.result(ended, describeEnd(ended));
    return exitOf(ended);
  });
}
