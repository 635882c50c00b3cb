/** `trawl stats`: how many tasks are where, of one run or of all. */
import { answers, type Stats } from '../../client/answers.ts';
import { given, readText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderCount } from '../progress-bar.ts';
import { renderTable } from '../table.ts';
import { askCoordinator } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const body = given({ run: readText(context.argv, 'run') });
  const stats = await askCoordinator(context, { verb: 'stats', schema: answers.stats, body });
  context.output.result(stats, describe(stats));
  return EXIT.ok;
}

function describe(stats: Stats): string {
  const { total, queued, running, deferred, done, dead, cancelled, duplicates, workers } = stats;
  const rows = Object.entries({ total, queued, running, deferred, done, dead, cancelled, duplicates });
  const table = renderTable(
    ['TASKS', 'COUNT'],
    rows.map(([name, count]) => [name, renderCount(count)]),
  );
  return `${table}\n\n${workers.active} of ${workers.total} workers are at work.`;
}
