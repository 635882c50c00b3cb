/** `trawl dead`: what failed for good, why, and what to do with it: put it back, or forget it. */
import { answers, type TaskView } from '../../client/answers.ts';
import { Failure } from '../../domain/failure.ts';
import { given, readAge, readText, readWhole, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { changeDead, type DeadFilter } from '../change-dead.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderCount } from '../progress-bar.ts';
import { renderTable } from '../table.ts';
import { renderTask } from '../task-view.ts';
import { askCoordinator, withClient } from '../with-connection.ts';

const LIST_LIMIT = 20;
const MOST = 1_000_000_000;

export function run(context: CommandContext): Promise<ExitCode> {
  const action = String(context.argv['action']);
  if (action === 'show') return show(context);
  return action === 'ls' ? list(context) : change(context, action === 'retry' ? 'retry' : 'drop');
}

function readFilter({ argv }: CommandContext): DeadFilter {
  return given({
    run: readText(argv, 'run'),
    scraper: readText(argv, 'scraper'),
    id: readText(argv, 'task'),
    code: readText(argv, 'code'),
    sinceMs: readAge(argv, 'since'),
  });
}

async function list(context: CommandContext): Promise<ExitCode> {
  const limit = readWhole(context.argv, 'limit', { min: 0, max: MOST }) ?? LIST_LIMIT;
  const body = { ...readFilter(context), limit };
  const found = await askCoordinator(context, { verb: 'dead.list', schema: answers.dead, body });
  const { count, groups, tasks } = found;
  if (count === 0) {
    context.output.result(found, 'No dead tasks.');
    return EXIT.ok;
  }
  const byError = renderTable(
    ['COUNT', 'CODE', 'MESSAGE'],
    groups.map(({ code, message, count: each }) => [renderCount(each), code, oneLine(message)]),
  );
  const rows = tasks.map((task) => [task.id, task.run, oneLine(nameOf(task))]);
  const each = rows.length === 0 ? [] : ['', renderTable(['ID', 'RUN', 'TASK'], rows)];
  const more = count > tasks.length ? [`(${renderCount(count - tasks.length)} more)`] : [];
  context.output.result(
    found,
    [`${renderCount(count)} dead tasks.`, '', byError, ...each, ...more].join('\n'),
  );
  return EXIT.ok;
}

function nameOf({ task }: TaskView): unknown {
  return task?.['url'] ?? task?.['key'] ?? task?.['original'] ?? '-';
}

function oneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replace(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}

async function show(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const id = requireText(argv, 'task', 'trawl dead show TASK');
  const body = given({ id, run: readText(argv, 'run') });
  const story = await askCoordinator(context, { verb: 'why', schema: answers.why, body });
  if (story.where !== 'dead')
    throw new Failure('INVALID', `task ${id} is not dead: it is ${story.where}`, { hint: `trawl why ${id}` });
  output.result(story, renderTask(story));
  return EXIT.ok;
}

async function change(context: CommandContext, action: 'retry' | 'drop'): Promise<ExitCode> {
  const { argv, output } = context;
  const filter = readFilter(context);
  const dryRun = argv['dry-run'] === true;
  // One word too few must not empty the cluster.
  if (Object.keys(filter).length === 0)
    throw new Failure(
      'INVALID',
      `which dead tasks are to be ${action === 'retry' ? 'put back' : 'dropped'}?`,
      {
        hint: 'Name one task, or say which with --run, --scraper, --code or --since.',
      },
    );
  const limit = readWhole(argv, 'limit', { min: 1, max: MOST });
  const perSecond = readWhole(argv, 'rate', { min: 1, max: 100_000 });
  const answer = await withClient(context, 'dead', ({ ask }) =>
    changeDead({ ask, action, filter, limit, perSecond, dryRun, json: output.json }),
  );
  const done = action === 'retry' ? 'put back' : 'dropped';
  const count = renderCount(dryRun ? answer.matched : answer.changed);
  output.result(
    answer,
    dryRun ? `${count} dead tasks would be ${done}.` : `${count} dead tasks are ${done}.`,
  );
  return EXIT.ok;
}
