/** `trawl config`: every setting, its value, and where that came from. */
import { describeConfig } from '../../config/load.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderTable } from '../table.ts';

export async function run({ loaded, output }: CommandContext): Promise<ExitCode> {
  const rows = describeConfig(loaded);
  output.result(
    rows,
    renderTable(
      ['SETTING', 'VALUE', 'FROM'],
      rows.map((row) => [row.path, row.value, row.source.where]),
    ),
  );
  return EXIT.ok;
}
