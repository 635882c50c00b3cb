/** `trawl results`: what the tasks of a run brought, as a stream. */
import { once } from 'node:events';
import { readText, requireText } from '../arguments.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { createRowWriter, isWanted, type ResultFormat, type ResultState } from '../result-rows.ts';
import { withClient } from '../with-connection.ts';

export const resultsCommand: Command = {
  usage: 'results <run>',
  describe: 'Print the items of a run, one per line, or its dead tasks',
  examples: [
    ['$0 results friday > items.ndjson', 'What is settled by now'],
    ['$0 results friday --format csv', 'As a table; its columns are the fields of the first item'],
    ['$0 results friday --state dead', 'What failed, and why'],
    ['$0 results friday --follow | head -5', 'As they settle, until the run has ended'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('run', { type: 'string', demandOption: true })
      .option('format', { choices: ['ndjson', 'csv'] as const, default: 'ndjson' })
      .option('state', { choices: ['done', 'dead', 'all'] as const, default: 'done' })
      .option('follow', { type: 'boolean', default: false, describe: 'Go on until the run has ended' }),
  async run(context) {
    const { argv, output } = context;
    const run = requireText(argv, 'run', 'trawl results RUN');
    const state = readText(argv, 'state') as ResultState;
    const rows = createRowWriter(readText(argv, 'format') as ResultFormat, state);
    await withClient(context, 'results', async ({ client }) => {
      for await (const outcome of client.results(run, { settledOnly: argv['follow'] !== true })) {
        const text = isWanted(outcome, state) ? rows.write(outcome) : '';
        if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
      }
    });
    const remark = rows.remark();
    if (remark !== undefined) {
      output.progress(remark);
      if (!process.stderr.isTTY) process.stderr.write(`${remark}\n`);
    }
    return EXIT.ok;
  },
};
