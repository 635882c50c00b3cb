/** `trawl results`: what the tasks of a run brought, as a stream. */
import { once } from 'node:events';
import { readText, readTexts, requireText } from '../arguments.ts';
import { columnsOf } from '../columns.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { createRowWriter, isWanted, type ResultFormat, type ResultState } from '../result-rows.ts';
import { withClient } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const run = requireText(argv, 'run', 'trawl results RUN');
  const state = readText(argv, 'state') as ResultState;
  const kinds = readTexts(argv, 'kind');
  const usual = process.stdout.isTTY && !output.json ? 'table' : 'ndjson';
  const rows = createRowWriter((readText(argv, 'format') ?? usual) as ResultFormat, state, {
    kinds,
    atOnce: argv['follow'] === true,
    columns: columnsOf(process.stdout),
  });
  await withClient(context, 'results', async ({ client }) => {
    for await (const outcome of client.results(run, { settledOnly: argv['follow'] !== true })) {
      const text = isWanted(outcome, state) ? rows.write(outcome) : '';
      if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
    }
  });
  process.stdout.write(rows.end?.() ?? '');
  const remark = rows.remark();
  if (remark !== undefined) {
    output.progress(remark);
    if (!process.stderr.isTTY) process.stderr.write(`${remark}\n`);
  }
  return EXIT.ok;
}
