/** `trawl run`: makes a run of a whole list, however long, here or on the cluster, and may wait for its end. */
import type { Client } from '../../client/client.ts';
import { decideRunMode } from '../../cluster/scraper-mode.ts';
import { Failure } from '../../domain/failure.ts';
import type { Mode } from '../../domain/mode.ts';
import { readPriority, readText, requireText, type Arguments } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { followRun } from '../follow-run.ts';
import { renderCount } from '../progress-bar.ts';
import { describeEnd, exitOf } from '../run-summary.ts';
import { findStart } from '../start-list.ts';
import { submitList } from '../submit-list.ts';
import { openTaskFile, type TaskFile } from '../task-lines.ts';
import { withClient } from '../with-connection.ts';

const USAGE = 'trawl run SCRAPER --urls-file FILE';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, config } = context;
  const scraper = requireText(argv, 'scraper', USAGE);
  const asked = readMode(argv);
  const { mode, reason } = await decideRunMode(config, scraper, asked);
  if (mode === 'distributed')
    return runDistributed(context, scraper).catch((error: unknown) => {
      throw reason === 'elsewhere' ? explainElsewhere(context, scraper, error) : error;
    });
  if (reason !== 'asked') tellSingle(context, scraper);
  // Loaded when it is wanted: whoever only submits needs no server and no actors.
  const { runSingle } = await import('../single/run.ts');
  return runSingle(context, scraper);
}

function readMode(argv: Arguments): Mode | undefined {
  const single = argv['single'] === true || argv['resume'] !== undefined || argv['data'] !== undefined;
  if (argv['distributed'] !== true) return single ? 'single' : undefined;
  if (single)
    throw new Failure('INVALID', '--distributed does not go with --single, --resume or --data', {
      hint: 'A run on the cluster goes on by itself; `trawl watch RUN` follows it.',
    });
  return 'distributed';
}

/** Perhaps the name is only spelled wrong. */
function explainElsewhere({ config }: CommandContext, scraper: string, error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'UNAVAILABLE') return error;
  const { code, message, hint = '' } = error;
  const where = config.worker.scrapers.join(', ');
  const why = `There is no scraper ${scraper} in ${where}, so only a cluster could run it.`;
  return new Failure(code, message, { cause: error, hint: `${why} ${hint}`.trim() });
}

/** Whoever has a cluster may expect the run there. */
function tellSingle({ loaded, config, output }: CommandContext, scraper: string): void {
  const origin = loaded.sources.get('nats.url')?.kind ?? 'default';
  if (output.json || origin === 'default') return;
  process.stderr.write(
    `${scraper} is a single scraper: it runs in this process, not on ${config.nats.url.join(', ')} (--distributed sends it there).\n`,
  );
}

async function runDistributed(context: CommandContext, scraper: string): Promise<ExitCode> {
  const { argv, output } = context;
  const file = await findTasks(context, scraper);
  return withClient(context, 'run', async ({ client, ask }) => {
    const { run, enqueued } = await submit(context, { client, scraper, file });
    const queued = { run_id: run, enqueued, worker_command: workerCommand(scraper, run) };
    if (argv['wait'] !== true) {
      output.result({ status: 'queued', ...queued }, describe(queued));
      return EXIT.ok;
    }
    output.progress(describe(queued));
    const ended = await followRun({ ask, run, output, quiet: true });
    output.result({ status: ended.state, ...queued }, describeEnd(ended));
    return exitOf(ended);
  });
}

async function findTasks({ argv, config }: CommandContext, scraper: string): Promise<TaskFile> {
  const given = readText(argv, 'urls-file');
  const start = given === undefined ? await findStart(config, scraper) : undefined;
  return start ?? openTaskFile(requireText(argv, 'urls-file', USAGE));
}

function submit(
  { argv, output }: CommandContext,
  source: { readonly client: Client; readonly scraper: string; readonly file: TaskFile },
): ReturnType<Client['run']> {
  const dropTracking = argv['drop-tracking'] === true;
  return submitList({
    ...{ ...source, output, dropTracking },
    run: readText(argv, 'run-id'),
    priority: readPriority(argv),
  });
}

function workerCommand(scraper: string, run: string): string {
  return `npx trawl worker --scraper ${scraper} --run-id ${run}`;
}

function describe(queued: { run_id: string; enqueued: number; worker_command: string }): string {
  const { run_id: run, enqueued } = queued;
  return [
    `Run ${run}: ${renderCount(enqueued)} tasks are queued.`,
    `  npx trawl watch ${run}     follow it`,
    `  ${queued.worker_command}     a worker for it alone`,
  ].join('\n');
}
