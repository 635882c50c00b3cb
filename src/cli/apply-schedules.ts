/** `trawl schedule apply FILE`: the schedules of a file, each for itself, so that one mistake costs one of them. */
import { readFileSync } from 'node:fs';
import { answers } from '../client/answers.ts';
import { parseScheduleFile, type ScheduleEntry } from '../config/schedule-file.ts';
import { asFailure, Failure, messageOf } from '../domain/failure.ts';
import { parseSchedule } from '../policy/schedule-spec.ts';
import { requireText } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { renderTable } from './table.ts';
import { withClient, type Ask } from './with-connection.ts';

interface Applied {
  readonly name: string;
  readonly line: number;
  readonly change?: string;
  readonly problems?: readonly string[];
}

const EXAMPLE = 'trawl schedule apply schedules.yaml';

export async function applyFile(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const path = requireText(argv, 'name', EXAMPLE);
  const dryRun = argv['dry-run'] === true;
  const entries = readEntries(path);
  const schedules = await withClient(context, 'schedule', async ({ ask }) => {
    const applied: Applied[] = [];
    const seen = new Map<string, number>();
    for (const entry of entries) applied.push(await applyEntry(ask, entry, { seen, dryRun }));
    return applied;
  });
  const bad = schedules.filter(({ problems }) => problems !== undefined);
  output.result({ schedules, dryRun, problems: bad.length }, describe(schedules, { path, dryRun }));
  return bad.length > 0 ? EXIT.usage : EXIT.ok;
}

function readEntries(path: string): readonly ScheduleEntry[] {
  let text: string;
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    const message = `${path} cannot be read: ${messageOf(cause)}`;
    throw new Failure('INVALID', message, { cause, hint: `${EXAMPLE}, or - for stdin.` });
  }
  const file = parseScheduleFile(text);
  if (file.ok) return file.entries;
  const problems = file.problems.map(({ line, problem }) => `  line ${line}: ${problem}`);
  throw new Failure('INVALID', `${path} is no file of schedules:\n${problems.join('\n')}`, {
    hint: 'config/examples/dmarket/schedules.yaml shows how.',
  });
}

async function applyEntry(
  ask: Ask,
  { line, definition }: ScheduleEntry,
  { seen, dryRun }: { seen: Map<string, number>; dryRun: boolean },
): Promise<Applied> {
  const parsed = parseSchedule(definition, Date.now());
  if (!parsed.ok) return { name: nameOf(definition), line, problems: parsed.problems };
  const { name } = parsed.spec;
  const before = seen.get(name);
  if (before !== undefined) return { name, line, problems: [`${name} stands on line ${before} already`] };
  seen.set(name, line);
  try {
    const { change } = await ask('schedule.apply', answers.applied, { schedule: definition, dryRun });
    return { name, line, change };
  } catch (error) {
    const { code, message } = asFailure(error);
    // Without a cluster there is no point in going on.
    if (code === 'UNAVAILABLE' || code === 'TIMEOUT') throw error;
    return { name, line, problems: [message] };
  }
}

function nameOf(definition: unknown): string {
  const { name } = (definition ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? name : '-';
}

function describe(
  schedules: readonly Applied[],
  { path, dryRun }: { path: string; dryRun: boolean },
): string {
  if (schedules.length === 0) return `There are no schedules in ${path}.`;
  const rows = schedules.map(({ name, line, change = 'wrong' }) => [name, String(line), change]);
  const table = renderTable(['NAME', 'LINE', dryRun ? 'WOULD BE' : 'IS'], rows);
  const wrong = schedules.flatMap(({ name, line, problems = [] }) =>
    problems.map((problem) => `${path}, line ${line} (${name}): ${problem}`),
  );
  return wrong.length === 0 ? table : [table, '', ...wrong].join('\n');
}
