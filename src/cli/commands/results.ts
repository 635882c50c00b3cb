/** `trawl results`: what the tasks of a run brought, as a stream. */
import type { Command } from '../command.ts';
import { runArgument } from '../run-argument.ts';

export const resultsCommand: Command = {
  usage: 'results [RUN]',
  describe: 'Print the items of a run, or its dead tasks',
  examples: [
    ['$0 results friday', 'What is settled by now, as a table on a terminal'],
    ['$0 results friday > items.ndjson', 'In a pipe one JSON line for each item'],
    ['$0 results --run friday --format csv', 'The columns are the fields of the first item'],
    ['$0 results friday --kind price', 'Only the items of one kind'],
    ['$0 results friday --state dead', 'What failed, and why'],
    ['$0 results friday --follow | head -5', 'As they settle, until the run has ended'],
  ],
  sections: ['nats', 'general'],
  single: 'server',
  options: (yargs) =>
    runArgument(yargs)
      .option('format', {
        choices: ['table', 'ndjson', 'csv'] as const,
        describe: 'Without it a table on a terminal, ndjson in a pipe',
      })
      .option('state', { choices: ['done', 'dead', 'all'] as const, default: 'done' })
      .option('kind', { type: 'string', describe: 'Only items of this kind; may be repeated' })
      .option('follow', { type: 'boolean', default: false, describe: 'Go on until the run has ended' }),
  load: () => import('../effects/results.ts'),
};
