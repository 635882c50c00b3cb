/** Submits through the coordinator, which tells at once what each task became. */
import type { Services } from '../nats/services-client.ts';
import { answers, readAnswer } from './answers.ts';
import { packTasks, type ChunkLimits, type Task } from './pack-tasks.ts';

export interface Submitted {
  readonly run: string;
  /** In the order of submission, without those that were refused. */
  readonly tasks: readonly { readonly id: string; readonly duplicate: boolean }[];
  /** What is no task, by its place among the submitted ones, from 0. */
  readonly problems: readonly { readonly index: number; readonly reason: string }[];
}

export interface FewOptions {
  readonly scraper: string;
  readonly run: string | undefined;
  readonly priority?: number | undefined;
  readonly dropTracking?: boolean | undefined;
  readonly limits: ChunkLimits;
}

export async function submitFew(
  services: Services,
  given: Task | readonly Task[],
  { scraper, run, priority, dropTracking, limits }: FewOptions,
): Promise<Submitted> {
  const all = isList(given) ? given : [given];
  const tasks: { id: string; duplicate: boolean }[] = [];
  const problems: { index: number; reason: string }[] = [];
  let from = 0;
  let into = run;
  // Packed only to know how many fit into one request.
  for await (const { tasks: size } of packTasks(all, roomier(limits))) {
    const some = all.slice(from, from + size);
    const answer = readAnswer(
      answers.submitted,
      await services.call('submit', { scraper, run, priority, dropTracking, tasks: some }),
    );
    into ??= answer.run;
    tasks.push(...answer.tasks.map(({ id, duplicate }) => ({ id, duplicate })));
    problems.push(...answer.problems.map(({ index, reason }) => ({ index: index + from, reason })));
    from += size;
  }
  return { run: into ?? '', tasks, problems };
}

/** In a request every URL stands in quotes, and there is something around the list. */
function roomier(limits: ChunkLimits): ChunkLimits {
  return { ...limits, bytesMax: limits.bytesMax - 4 * limits.tasksMax };
}

function isList(given: Task | readonly Task[]): given is readonly Task[] {
  return Array.isArray(given);
}
