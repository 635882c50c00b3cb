/** `trawl runs`: what runs there are, one of them in full, and the removal of what is over. */
import { resolve } from 'node:path';
import { answers, type RunSummary } from '../../client/answers.ts';
import { asFailure, Failure } from '../../domain/failure.ts';
import { listSingleFolders } from '../../local/single-record.ts';
import { given, readText, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderCount } from '../progress-bar.ts';
import { listSingleRuns, removeSingleRun } from '../single/runs.ts';
import { renderAge, renderTable } from '../table.ts';
import { askCoordinator } from '../with-connection.ts';

/** A run of millions takes its time to go. */
const REMOVE_TIMEOUT_MS = 120_000;

export function run(context: CommandContext): Promise<ExitCode> {
  const action = String(context.argv['action']);
  if (action === 'ls') return list(context);
  return action === 'show' ? show(context) : remove(context);
}

async function list(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  if (argv['run'] !== undefined)
    throw new Failure('INVALID', '`trawl runs ls` takes no run', { hint: 'trawl runs show RUN' });
  if (argv['single'] === true) return listSingleRuns(context);
  const body = given({ scraper: readText(argv, 'scraper'), state: readText(argv, 'state') });
  const question = { verb: 'run.list', schema: answers.runs, body };
  const { runs } = await askCoordinator(context, question).catch((error: unknown) => {
    throw hintAtSingle(context, asFailure(error));
  });
  output.result({ runs }, runs.length === 0 ? 'No runs.' : renderRuns(runs, Date.now()));
  return EXIT.ok;
}

/** Whoever has no cluster may mean the runs that they have. */
function hintAtSingle({ config }: CommandContext, failure: Failure): Failure {
  const { code, message, hint = '' } = failure;
  if (code !== 'UNAVAILABLE' || listSingleFolders(resolve(config.home)).length === 0) return failure;
  const single = '`trawl runs ls --single` lists the runs of single mode.';
  return new Failure(code, message, { cause: failure, hint: `${single} ${hint}`.trim() });
}

function renderRuns(runs: readonly RunSummary[], now: number): string {
  return renderTable(
    ['RUN', 'SCRAPER', 'STATE', 'TOTAL', 'DONE', 'DEAD', 'LEFT', 'AGE'],
    runs.map(({ id, scraper, state, counts, createdAt }) => [
      id,
      scraper,
      state,
      renderCount(counts.total),
      renderCount(counts.done),
      renderCount(counts.dead),
      renderCount(counts.remaining),
      renderAge(now - createdAt),
    ]),
  );
}

async function show(context: CommandContext): Promise<ExitCode> {
  const run = requireText(context.argv, 'run', 'trawl runs show RUN');
  const found = await askCoordinator(context, {
    verb: 'run.show',
    schema: answers.runWithCounts,
    body: { run },
  });
  context.output.result(found, renderOne(found));
  return EXIT.ok;
}

function renderOne(run: RunSummary): string {
  const { id, scraper, state, priority, createdAt, startedAt, endedAt, standing, counts } = run;
  const time = (at: number | undefined): string => (at === undefined ? '-' : new Date(at).toISOString());
  const { total, queued, running, deferred, done, dead, cancelled, duplicates } = counts;
  const tasks = { total, queued, running, deferred, done, dead, cancelled, duplicates };
  const rows: [string, string][] = [
    ['run', standing ? `${id} (standing: takes tasks at any time, never ends)` : id],
    ['scraper', scraper],
    ['state', state],
    ['priority', String(priority)],
    ['created', time(createdAt)],
    ['started', time(startedAt)],
    ['ended', time(endedAt)],
    ...Object.entries(tasks).map(([name, count]): [string, string] => [name, renderCount(count)]),
  ];
  return rows.map(([name, value]) => `${name.padEnd(10)}  ${value}`).join('\n');
}

async function remove(context: CommandContext): Promise<ExitCode> {
  if (context.singleFolder !== undefined) return removeSingleRun(context, context.singleFolder);
  const run = requireText(context.argv, 'run', 'trawl runs rm RUN');
  const answer = await askCoordinator(context, {
    verb: 'run.remove',
    schema: answers.removed,
    body: { run },
    timeoutMs: REMOVE_TIMEOUT_MS,
  });
  context.output.result(answer, `Run ${run} is removed, with ${renderCount(answer.removed)} records.`);
  return EXIT.ok;
}
