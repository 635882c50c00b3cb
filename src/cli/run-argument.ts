/** The run that a command is about, as its first argument or as `--run`: `readWords` puts both in `run`. */
import type { Argv } from 'yargs';

export function runArgument(yargs: Argv): Argv {
  return yargs
    .positional('RUN', { type: 'string', describe: 'The run' })
    .option('run', { type: 'string', nargs: 1, describe: 'The same, as an option' });
}
