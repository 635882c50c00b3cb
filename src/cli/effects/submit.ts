/** `trawl submit`: a few tasks, with an answer for each. */
import { Failure } from '../../domain/failure.ts';
import type { Submitted } from '../../client/submit-few.ts';
import type { Task } from '../../client/pack-tasks.ts';
import { given, readPriority, readText, readTexts, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openTaskFile } from '../task-lines.ts';
import { withClient } from '../with-connection.ts';

const TASKS_MAX = 10_000;

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const scraper = requireText(argv, 'scraper', 'trawl submit SCRAPER URL');
  const tasks = await gatherTasks(context);
  const submitted = await withClient(context, 'submit', ({ client }) =>
    client.submit(scraper, tasks, {
      run: readText(argv, 'run'),
      priority: readPriority(argv),
      dropTracking: argv['drop-tracking'] === true,
    }),
  );
  const [first] = submitted.tasks;
  // One task is answered as one, so that a script needs no list.
  const single = tasks.length === 1 && first ? first : {};
  output.result({ ...submitted, ...single }, describe(submitted, tasks));
  return submitted.problems.length > 0 ? EXIT.failure : EXIT.ok;
}

async function gatherTasks({ argv }: CommandContext): Promise<Task[]> {
  const file = readText(argv, 'file');
  const extra = given({ key: readText(argv, 'key'), notBefore: readText(argv, 'not-before') });
  const tasks: Task[] = readTexts(argv, 'url');
  if (file !== undefined) {
    for await (const task of openTaskFile(file).tasks) {
      tasks.push(task);
      if (tasks.length > TASKS_MAX)
        throw new Failure('INVALID', `more than ${TASKS_MAX} tasks`, {
          hint: '`trawl run SCRAPER --urls-file FILE` takes any number.',
        });
    }
  }
  if (tasks.length === 0 && 'key' in extra) return [extra];
  if (tasks.length === 0)
    throw new Failure('INVALID', 'there is nothing to submit', { hint: 'Give a URL, --file or --key.' });
  if (tasks.length > 1 && 'key' in extra)
    throw new Failure('INVALID', `--key names one task, but there are ${tasks.length}`);
  if (Object.keys(extra).length === 0) return tasks;
  return tasks.map((task) => (typeof task === 'string' ? { url: task, ...extra } : { ...extra, ...task }));
}

const LINES_MAX = 20;

function describe({ run, tasks, problems }: Submitted, given: readonly Task[]): string {
  const duplicates = tasks.filter(({ duplicate }) => duplicate).length;
  const lines = tasks
    .slice(0, LINES_MAX)
    .map(({ id, duplicate }) => `${id}  ${duplicate ? 'known already' : 'queued'}`);
  if (tasks.length > LINES_MAX) lines.push(`… and ${tasks.length - LINES_MAX} more`);
  for (const { index, reason } of problems.slice(0, LINES_MAX))
    lines.push(`task ${index + 1} refused: ${reason}  (${show(given[index])})`);
  if (problems.length > LINES_MAX) lines.push(`… and ${problems.length - LINES_MAX} more refused`);
  const counts = [`${tasks.length - duplicates} queued`];
  if (duplicates > 0) counts.push(`${duplicates} known already`);
  if (problems.length > 0) counts.push(`${problems.length} refused`);
  return [...lines, `Run ${run}: ${counts.join(', ')}.`].join('\n');
}

function show(task: Task | undefined): string {
  const text = typeof task === 'string' ? task : JSON.stringify(task);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
