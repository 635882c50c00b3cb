/** `trawl sink` runs a sink, `trawl sinks` shows and steers them. */
import { SINK_TYPES } from '../../domain/sink.ts';
import type { Command } from '../command.ts';

export const sinkCommand: Command = {
  usage: 'sink <name>',
  describe:
    'Run a sink: delivers items to files, PostgreSQL, a webhook or stdout, one process per name at a time',
  examples: [
    [
      '$0 sink archive --type ndjson --path out --gzip',
      'All items of all runs, from the first on, into out/',
    ],
    ['$0 sink table --type csv --path out --run friday --until-empty', 'What is there of one run, and end'],
    [
      '$0 sink db --type postgres --url postgres://me@10.0.0.9/shop --password env:DB_PASSWORD --table items',
      'Into a table, which is made if it is not there',
    ],
    [
      '$0 sink hook --type webhook --url https://shop.example/items --secret env:HOOK_SECRET --kind price',
      'Only items of one kind, signed',
    ],
    ['$0 sink archive --sinks-file config/sinks.yaml', 'As a file describes it'],
    ['$0 sink archive --type ndjson --path out --run monday --until-empty', 'Also of a run of single mode'],
  ],
  single: (argv) => (argv['until-empty'] === true ? 'actor' : 'folder'),
  sections: ['nats', 'actor', 'sinks', 'heartbeat', 'leader', 'http', 'log', 'general'],
  options: (yargs) =>
    yargs
      .positional('name', { type: 'string', demandOption: true })
      .option('type', { choices: SINK_TYPES, describe: 'Where to; without it, as in sinks.file' })
      .option('run', { type: 'string', describe: 'Only items of this run' })
      .option('kind', { type: 'string', describe: 'Only items of this kind; may be repeated' })
      .option('path', { type: 'string', describe: 'Folder of the files; of a webhook, for what is refused' })
      .option('gzip', { type: 'boolean', describe: 'Compress the files' })
      .option('rotate-size', { type: 'string', describe: 'Size at which the next file begins; 256MiB' })
      .option('rotate-every', { type: 'string', describe: 'Age at which the next file begins' })
      .option('columns', { type: 'string', describe: 'Fields of the items in a CSV; without it, all' })
      .option('url', { type: 'string', describe: 'Of the database or webhook; or env:NAME, file:/path' })
      .option('password', { type: 'string', describe: 'Of the database: env:NAME or file:/path' })
      .option('table', { type: 'string', describe: 'Of the database; trawl_items' })
      .option('secret', { type: 'string', describe: 'That signs requests: env:NAME or file:/path' })
      .option('batch', { type: 'string', describe: 'Items in one request; 500' })
      .option('until-empty', { type: 'boolean', default: false, describe: 'End when all is delivered' }),
  load: () => import('../effects/sink.ts'),
};

export const sinksCommand: Command = {
  usage: 'sinks <action> [name]',
  describe: 'Show how far each sink is, let one start over, or forget one',
  examples: [
    ['$0 sinks ls', 'Position, lag, what was put aside, the last error'],
    ['$0 sinks show archive', 'One of them'],
    ['$0 sinks replay archive', 'All items once more, from the start'],
    ['$0 sinks rm archive', 'Forget its position: it would start over; what it delivered stays'],
    ['$0 sinks ls --data .trawl/single/monday', 'Those of a run of single mode'],
  ],
  sections: ['nats', 'general'],
  single: 'server',
  options: (yargs) =>
    yargs
      .positional('action', { choices: ['ls', 'show', 'replay', 'rm'] as const, demandOption: true })
      .positional('name', { type: 'string' }),
  load: () => import('../effects/sinks.ts'),
};
