/** `trawl config`: every setting, its value, and where that came from. */
import { describeConfig } from '../../config/load.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { renderTable } from '../table.ts';

export const configCommand: Command = {
  usage: 'config',
  describe: 'Show every setting, its value and where it came from',
  examples: [
    ['$0 config', 'What a command started here would use'],
    ['$0 config --json', 'The same for a script'],
  ],
  sections: [],
  async run({ loaded, output }) {
    const rows = describeConfig(loaded);
    output.result(
      rows,
      renderTable(
        ['SETTING', 'VALUE', 'FROM'],
        rows.map((row) => [row.path, row.value, row.source.where]),
      ),
    );
    return EXIT.ok;
  },
};
