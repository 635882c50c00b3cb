/** `trawl why`: where one task is and how it got there, on one screen. */
import { answers } from '../../client/answers.ts';
import { given, readText, requireText } from '../arguments.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { renderTask } from '../task-view.ts';
import { askCoordinator } from '../with-connection.ts';

export const whyCommand: Command = {
  usage: 'why <task>',
  describe: 'Say where a task is, and what happened to it',
  examples: [
    ['$0 why 3kf0…', 'By its id'],
    ['$0 why 3kf0… --run friday', 'Where several runs have the same task'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('task', { type: 'string', demandOption: true })
      .option('run', { type: 'string', describe: 'The run it belongs to' }),
  async run(context) {
    const { argv, output } = context;
    const id = requireText(argv, 'task', 'trawl why TASK');
    const body = given({ id, run: readText(argv, 'run') });
    const answer = await askCoordinator(context, { verb: 'why', schema: answers.why, body });
    output.result(answer, renderTask(answer));
    return answer.where === 'unknown' ? EXIT.failure : EXIT.ok;
  },
};
