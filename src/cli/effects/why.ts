/** `trawl why`: where one task is and how it got there, on one screen. */
import { answers } from '../../client/answers.ts';
import { given, readText, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderTask } from '../task-view.ts';
import { askCoordinator } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const id = requireText(argv, 'task', 'trawl why TASK');
  const body = given({ id, run: readText(argv, 'run') });
  const answer = await askCoordinator(context, { verb: 'why', schema: answers.why, body });
  output.result(answer, renderTask(answer));
  return answer.where === 'unknown' ? EXIT.failure : EXIT.ok;
}
