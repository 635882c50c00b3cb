/** `trawl cancel`: ends a run, or one task of it, for good. */
import { answers } from '../../client/answers.ts';
import { readText, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { askCoordinator } from '../with-connection.ts';

const TIMEOUT_MS = 60_000;

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const run = requireText(argv, 'run', 'trawl cancel RUN');
  const id = readText(argv, 'task');
  if (id === undefined) {
    const question = { verb: 'run.cancel', schema: answers.run, body: { run }, timeoutMs: TIMEOUT_MS };
    output.result(await askCoordinator(context, question), `Run ${run} is cancelled.`);
    return EXIT.ok;
  }
  const body = { run, id };
  const answer = await askCoordinator(context, {
    verb: 'task.cancel',
    schema: answers.taskCancelled,
    body,
  });
  output.result(
    answer,
    answer.cancelled ? `Task ${id} is cancelled.` : `Task ${id} is not cancelled: it is ${answer.state}.`,
  );
  return answer.cancelled ? EXIT.ok : EXIT.failure;
}
