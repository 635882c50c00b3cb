/** `trawl pause` and `trawl resume`: hold work back, and let it go on. Both survive restarts. */
import { answers } from '../../client/answers.ts';
import { Failure } from '../../domain/failure.ts';
import { given, readText } from '../arguments.ts';
import type { Command, CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { askCoordinator } from '../with-connection.ts';

const KINDS = ['run', 'scraper', 'host', 'cluster'] as const;

export const pauseCommand = createCommand(
  'pause',
  'Hold back a run, a scraper, a host, or everything',
  'paused',
);
export const resumeCommand = createCommand('resume', 'Let go on what was paused', 'going on');

function createCommand(verb: 'pause' | 'resume', describe: string, state: string): Command {
  return {
    usage: `${verb} <kind> [name]`,
    describe,
    examples: [
      [`$0 ${verb} run friday`, 'One run'],
      [`$0 ${verb} scraper prices`, 'All runs of a scraper'],
      [`$0 ${verb} host shop.example`, 'All tasks for a host'],
      [`$0 ${verb} cluster`, 'Everything'],
    ],
    sections: ['nats', 'general'],
    options: (yargs) =>
      yargs.positional('kind', { choices: KINDS, demandOption: true }).positional('name', { type: 'string' }),
    run: (context) => change(context, verb, state),
  };
}

async function change(context: CommandContext, verb: 'pause' | 'resume', state: string): Promise<ExitCode> {
  const { argv, output } = context;
  const kind = String(argv['kind']);
  const name = readText(argv, 'name');
  if (kind !== 'cluster' && name === undefined)
    throw new Failure('INVALID', `which ${kind}?`, { hint: `trawl ${verb} ${kind} NAME` });
  if (kind === 'cluster' && name !== undefined)
    throw new Failure('INVALID', `the cluster has no name`, { hint: `trawl ${verb} cluster` });
  const answer = await askCoordinator(context, {
    verb: kind === 'run' ? `run.${verb}` : verb,
    schema: answers.anything,
    body: kind === 'run' ? { run: name } : given({ kind, name }),
  });
  output.result(answer, `${kind === 'cluster' ? 'The cluster' : `${kind} ${name ?? ''}`} is ${state}.`);
  return EXIT.ok;
}
