/** `trawl results`: what the tasks of a run brought, as a stream. */
import type { Command } from '../command.ts';

export const resultsCommand: Command = {
  usage: 'results <run>',
  describe: 'Print the items of a run, one per line, or its dead tasks',
  examples: [
    ['$0 results friday > items.ndjson', 'What is settled by now'],
    ['$0 results friday --format csv', 'As a table; its columns are the fields of the first item'],
    ['$0 results friday --kind price', 'Only the items of one kind'],
    ['$0 results friday --state dead', 'What failed, and why'],
    ['$0 results friday --follow | head -5', 'As they settle, until the run has ended'],
  ],
  sections: ['nats', 'general'],
  single: 'server',
  options: (yargs) =>
    yargs
      .positional('run', { type: 'string', demandOption: true })
      .option('format', { choices: ['ndjson', 'csv'] as const, default: 'ndjson' })
      .option('state', { choices: ['done', 'dead', 'all'] as const, default: 'done' })
      .option('kind', { type: 'string', describe: 'Only items of this kind; may be repeated' })
      .option('follow', { type: 'boolean', default: false, describe: 'Go on until the run has ended' }),
  load: () => import('../effects/results.ts'),
};
