/** `trawl submit`: a few tasks, with an answer for each. */
import { Failure } from '../../domain/failure.ts';
import type { Submitted } from '../../client/submit-few.ts';
import type { Task } from '../../client/pack-tasks.ts';
import { given, readPriority, readText, readTexts, requireText } from '../arguments.ts';
import type { Command, CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openTaskFile } from '../task-lines.ts';
import { withClient } from '../with-connection.ts';

const TASKS_MAX = 10_000;

export const submitCommand: Command = {
  usage: 'submit <scraper> [url..]',
  describe: 'Submit tasks to a scraper, and say what became of each',
  examples: [
    ['$0 submit prices https://shop.example/a', 'One page'],
    ['$0 submit prices --file urls.txt --run friday', 'All of a file, into a run of that name'],
    [
      'echo \'{"url":"https://shop.example/a","depth":2}\' | $0 submit prices --file -',
      'With a field for the scraper',
    ],
    [
      '$0 submit report --key 2026-01 --not-before 2026-02-01T06:00:00Z',
      'Without a URL, and not before a time',
    ],
  ],
  sections: ['nats', 'general'],
  options: (yargs) =>
    yargs
      .positional('scraper', { type: 'string', demandOption: true })
      .positional('url', { type: 'string', array: true })
      .option('file', { type: 'string', nargs: 1, describe: 'One URL or JSON object per line; - is stdin' })
      .option('run', { type: 'string', describe: "The run to join; without it, the scraper's standing run" })
      .option('priority', { type: 'string', describe: '0 to 9; higher goes first' })
      .option('key', { type: 'string', describe: 'What tells the task apart, instead of its URL' })
      .option('not-before', {
        type: 'string',
        describe: 'Epoch milliseconds, or a time such as 2026-01-31T08:00:00Z',
      }),
  async run(context) {
    const { argv, output } = context;
    const scraper = requireText(argv, 'scraper', 'trawl submit SCRAPER URL');
    const tasks = await gatherTasks(context);
    const submitted = await withClient(context, 'submit', ({ client }) =>
      client.submit(scraper, tasks, { run: readText(argv, 'run'), priority: readPriority(argv) }),
    );
    const [first] = submitted.tasks;
    // One task is answered as one, so that a script needs no list.
    const single = tasks.length === 1 && first ? first : {};
    output.result({ ...submitted, ...single }, describe(submitted, tasks));
    return submitted.problems.length > 0 ? EXIT.failure : EXIT.ok;
  },
};

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
