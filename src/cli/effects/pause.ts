/** `trawl pause` and `trawl resume`: hold work back, and let it go on. Both survive restarts. */
import { answers } from '../../client/answers.ts';
import { Failure } from '../../domain/failure.ts';
import { given, readText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { askCoordinator } from '../with-connection.ts';

export function pause(context: CommandContext): Promise<ExitCode> {
  return change(context, 'pause', 'paused');
}

export function resume(context: CommandContext): Promise<ExitCode> {
  return change(context, 'resume', 'going on');
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
