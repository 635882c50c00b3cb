/** `trawl schedule`: scrapers that run again and again. */
import { answers } from '../../client/answers.ts';
import { Failure } from '../../domain/failure.ts';
import { parseSchedule } from '../../policy/schedule-spec.ts';
import { given, readPriority, readText, readTexts, requireText } from '../arguments.ts';
import type { Command, CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderTable } from '../table.ts';
import { openTaskFile } from '../task-lines.ts';
import { askCoordinator } from '../with-connection.ts';

type Change = 'rm' | 'now' | 'pause' | 'resume';

const VERB: Readonly<Record<Change, string>> = { rm: 'remove', now: 'now', pause: 'pause', resume: 'resume' };
const SAID: Readonly<Record<Change, string>> = {
  rm: 'is removed',
  now: 'is fired',
  pause: 'is paused',
  resume: 'goes on',
};

export const scheduleCommand: Command = {
  usage: 'schedule <action> [name]',
  describe: 'Run scrapers again and again: list, add, remove, fire now, pause, resume',
  examples: [
    [
      '$0 schedule add hourly --scraper prices --every 1h --url https://shop.example/',
      'Every hour, from now on',
    ],
    [
      "$0 schedule add daily --scraper prices --cron '0 30 6 * * *' --time-zone Europe/Rome --urls-file urls.txt",
      'Each day at half past six there',
    ],
    ['$0 schedule ls', 'All of them'],
    ['$0 schedule now hourly', 'Once more, at once'],
    ['$0 schedule rm hourly', 'No more'],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('action', {
        choices: ['ls', 'add', 'rm', 'now', 'pause', 'resume'] as const,
        demandOption: true,
      })
      .positional('name', { type: 'string' })
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
      .option('paused', { type: 'boolean', default: false, describe: 'Make it, and let it wait' }),
  run(context) {
    const action = String(context.argv['action']);
    if (action === 'ls') return list(context);
    return action === 'add' ? add(context) : change(context, action as Change);
  },
};

async function list(context: CommandContext): Promise<ExitCode> {
  const found = await askCoordinator(context, { verb: 'schedule.list', schema: answers.schedules, body: {} });
  const rows = found.schedules.map((each) => [
    each.name,
    each.scraper,
    timingOf(each),
    each['paused'] === true ? 'paused' : 'on',
    timeOf(each['nextAt']),
  ]);
  const table = renderTable(['NAME', 'SCRAPER', 'WHEN', 'STATE', 'NEXT'], rows);
  context.output.result(found, rows.length === 0 ? 'No schedules.' : table);
  return EXIT.ok;
}

function timingOf({ every, cron }: Readonly<Record<string, unknown>>): string {
  if (typeof cron === 'string') return cron;
  return typeof every === 'string' ? `every ${every}` : '-';
}

function timeOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? new Date(value).toISOString() : '-';
}

async function add(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const name = requireText(argv, 'name', 'trawl schedule add NAME --scraper SCRAPER --every 1h');
  const urls = [...readTexts(argv, 'url'), ...(await readUrls(readText(argv, 'urls-file')))];
  const body = given({
    name,
    scraper: readText(argv, 'scraper'),
    every: readText(argv, 'every'),
    cron: readText(argv, 'cron'),
    timeZone: readText(argv, 'time-zone'),
    priority: readPriority(argv),
    urls: urls.length > 0 ? urls : undefined,
    params: readParams(readText(argv, 'params')),
    stagger: readText(argv, 'stagger'),
    jitter: readText(argv, 'jitter'),
    now: argv['now'] === false ? false : undefined,
    overlap: readText(argv, 'overlap'),
    catchUp: readText(argv, 'catch-up'),
    paused: argv['paused'] === true ? true : undefined,
  });
  // The coordinator checks it too; here all mistakes are told without asking anybody.
  const parsed = parseSchedule(body, Date.now());
  if (!parsed.ok)
    throw new Failure(
      'INVALID',
      `The schedule has problems:\n${parsed.problems.map((line) => `  ${line}`).join('\n')}`,
      {
        hint: '`trawl schedule --help` shows how.',
      },
    );
  output.result(
    await askCoordinator(context, { verb: 'schedule.add', schema: answers.anything, body }),
    `Schedule ${name} is set.`,
  );
  return EXIT.ok;
}

async function readUrls(path: string | undefined): Promise<unknown[]> {
  if (path === undefined) return [];
  const urls: unknown[] = [];
  for await (const task of openTaskFile(path).tasks) urls.push(task);
  return urls;
}

function readParams(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure('INVALID', '--params is not JSON', { cause, hint: `--params '{"depth": 2}'` });
  }
}

async function change(context: CommandContext, action: Change): Promise<ExitCode> {
  const name = requireText(context.argv, 'name', `trawl schedule ${action} NAME`);
  const question = { verb: `schedule.${VERB[action]}`, schema: answers.anything, body: { name } };
  context.output.result(await askCoordinator(context, question), `Schedule ${name} ${SAID[action]}.`);
  return EXIT.ok;
}
