/** `trawl aggregate`: what a run brought, or all of them, summed up in groups. */
import { readRecords } from '../../client/records.ts';
import { openBucket } from '../../nats/bucket.ts';
import { createAggregate, type Grouping, type GroupSum } from '../../policy/aggregate.ts';
import { readText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderCount } from '../progress-bar.ts';
import { renderTable } from '../table.ts';
import { createNames } from '../../wire/names.ts';
import { withConnection } from '../with-connection.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const by = readText(argv, 'by') as Grouping;
  const run = readText(argv, 'run');
  const aggregate = createAggregate(by);
  const names = createNames(context.config.namespace);
  await withConnection(context, 'aggregate', async (connection) => {
    const ports = { connection, names, bucket: openBucket(connection, names.bucket('cluster')) };
    for await (const record of readRecords(ports, { run, withItems: by === 'kind' })) aggregate.add(record);
  });
  const groups = aggregate.groups();
  const total = aggregate.total();
  output.result(
    {
      by,
      ...(run !== undefined && { run }),
      groups,
      total: Object.fromEntries(COLUMNS.map((name) => [name, total[name]])),
    },
    render(by, groups, total),
  );
  return EXIT.ok;
}

const COLUMNS = [
  'tasks',
  'done',
  'dead',
  'cancelled',
  'queued',
  'items',
  'badItems',
  'bytes',
  'errors',
] as const;

function render(by: Grouping, groups: readonly GroupSum[], total: GroupSum): string {
  const row = (sum: GroupSum): string[] => [sum.group, ...COLUMNS.map((name) => renderCount(sum[name]))];
  return renderTable(
    [by, ...COLUMNS].map((name) => name.replace(/[A-Z]/g, (letter) => ` ${letter}`).toUpperCase()),
    [...groups, total].map(row),
  );
}
