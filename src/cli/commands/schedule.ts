/** `trawl schedule`: scrapers that run again and again. */
import type { Command } from '../command.ts';

export const scheduleCommand: Command = {
  usage: 'schedule <action> [name]',
  describe: 'Run scrapers again and again: list, add, apply a file, remove, fire now, pause, resume',
  examples: [
    [
      '$0 schedule add hourly --scraper prices --every 1h --url https://shop.example/',
      'Every hour, from now on',
    ],
    [
      "$0 schedule add daily --scraper prices --cron '0 30 6 * * *' --time-zone Europe/Rome --urls-file urls.txt",
      'Each day at half past six there',
    ],
    ['$0 schedule apply schedules.yaml', 'As a file says; as often as you like'],
    ['$0 schedule ls', 'All of them'],
    ['$0 schedule now hourly', 'Once more, at once'],
    ['$0 schedule rm hourly', 'No more'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('action', {
        choices: ['ls', 'add', 'apply', 'rm', 'now', 'pause', 'resume'] as const,
        demandOption: true,
      })
      .positional('name', { type: 'string', describe: 'Of the schedule; for apply, a YAML file' })
      .option('scraper', { type: 'string', describe: 'The scraper to run (add)' })
      .option('every', { type: 'string', describe: 'An interval: 90s, 15m, 1h30m, 1d' })
      .option('cron', { type: 'string', describe: 'A pattern, instead of an interval' })
      .option('time-zone', { type: 'string', describe: 'Of the pattern; UTC without it' })
      .option('priority', { type: 'string', describe: '0 to 9; higher goes first' })
      .option('url', { type: 'string', describe: 'What to submit each time; may be repeated' })
      .option('urls-file', { type: 'string', nargs: 1, describe: 'The same from a file; - is stdin' })
      .option('params', { type: 'string', describe: 'A JSON object for the scraper' })
      .option('stagger', {
        type: 'string',
        describe: 'Spread schedules that are due together over this time',
      })
      .option('jitter', { type: 'string', describe: 'Start each time up to this much later' })
      .option('now', { type: 'boolean', default: true, describe: 'A first run at once; --no-now for none' })
      .option('overlap', { type: 'string', describe: 'skip or queue, while its last run is open' })
      .option('catch-up', {
        type: 'string',
        describe: 'one or none, for times that passed while nobody was there',
      })
      .option('dry-run', { type: 'boolean', default: false, describe: 'Only say what would change (apply)' })
      .option('paused', { type: 'boolean', default: false, describe: 'Make it, and let it wait' }),
  load: () => import('../effects/schedule.ts'),
};
