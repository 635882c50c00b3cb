/** `trawl run`: makes a run of a whole list, however long, and may wait for its end. */
import type { Client } from '../../client/client.ts';
import type { RunSummary } from '../../client/answers.ts';
import type { SubmitProgress } from '../../client/submit-stream.ts';
import { readPriority, readText, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { followRun } from '../follow-run.ts';
import { createMeter, createStatusLine, renderBar, renderCount, renderRate } from '../progress-bar.ts';
import { openTaskFile, type TaskFile } from '../task-lines.ts';
import { withClient } from '../with-connection.ts';

const BAR_WIDTH = 24;

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const scraper = requireText(argv, 'scraper', 'trawl run SCRAPER --urls-file FILE');
  const file = openTaskFile(requireText(argv, 'urls-file', 'trawl run SCRAPER --urls-file FILE'));
  return withClient(context, 'run', async ({ client, ask }) => {
    const { run, enqueued } = await stream(context, { client, scraper, file });
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

interface Source {
  readonly client: Client;
  readonly scraper: string;
  readonly file: TaskFile;
}

async function stream(
  { argv, output }: CommandContext,
  { client, scraper, file }: Source,
): ReturnType<Client['run']> {
  const line = createStatusLine(output.json ? { write: () => undefined } : process.stderr);
  const meter = createMeter();
  try {
    return await client.run(scraper, file.tasks, {
      run: readText(argv, 'run-id'),
      priority: readPriority(argv),
      onProgress: (progress) =>
        line.show(renderProgress(progress, file, meter.read(progress.tasks, performance.now()))),
    });
  } finally {
    line.clear();
  }
}

function renderProgress({ tasks, waiting }: SubmitProgress, file: TaskFile, perSecond: number): string {
  const bar = file.bytes === undefined ? '' : `${renderBar(file.bytesRead() / file.bytes, BAR_WIDTH)}  `;
  const wait = waiting ? '  the intake is full, waiting for room' : '';
  return `${bar}${renderCount(tasks)} tasks  ${renderRate(perSecond)}${wait}`;
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

export function describeEnd({ id, state, counts }: RunSummary): string {
  const { done, dead, cancelled, duplicates } = counts;
  const parts = [`${renderCount(done)} done`, `${renderCount(dead)} dead`];
  if (cancelled > 0) parts.push(`${renderCount(cancelled)} cancelled`);
  if (duplicates > 0) parts.push(`${renderCount(duplicates)} duplicates`);
  const next = dead > 0 ? `\nnpx trawl dead ls --run ${id} shows why.` : '';
  return `Run ${id} has ended (${state}): ${parts.join(', ')}.${next}`;
}

export function exitOf({ counts }: RunSummary): ExitCode {
  return counts.dead > 0 ? EXIT.deadTasks : EXIT.ok;
}
