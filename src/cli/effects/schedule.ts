/** `trawl schedule`: scrapers that run again and again. */
import { answers } from '../../client/answers.ts';
import { Failure } from '../../domain/failure.ts';
import { parseSchedule } from '../../policy/schedule-spec.ts';
import { given, readPriority, readText, readTexts, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { applyFile } from '../apply-schedules.ts';
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

export function run(context: CommandContext): Promise<ExitCode> {
  const action = String(context.argv['action']);
  if (action === 'ls') return list(context);
  if (action === 'apply') return applyFile(context);
  return action === 'add' ? add(context) : change(context, action as Change);
}

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
