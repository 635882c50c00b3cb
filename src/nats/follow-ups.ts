/** Puts into the intake what a task has led to, under the run of that task, with how deep it is and where it came from. */
import { Failure } from '../domain/failure.ts';
import { defaultRunId } from '../domain/run-id.ts';
import type { FollowUp, TaskSpec } from '../domain/task.ts';
import { encode } from '../wire/codec.ts';
import type { Names } from '../wire/names.ts';
import { formatBudget } from '../wire/submission-fields.ts';
import { BUDGET_HEADER, DEPTH_HEADER, PARENT_HEADER } from '../wire/submission.ts';
import type { Publisher } from './publisher.ts';

export type SubmitFollowUps = (followUps: readonly FollowUp[], from: TaskSpec) => Promise<void>;

const CHUNK_TASKS = 1_000;
const CHUNK_MAX_BYTES = 256 * 1024;

/** `open`: a worker whose scrapers enqueue nothing needs no publisher for it. */
export function createSubmitFollowUps(open: () => Promise<Publisher>, names: Names): SubmitFollowUps {
  return async (followUps, from) => {
    const publisher = await open();
    const headers = { [DEPTH_HEADER]: String((from.depth ?? 0) + 1), [PARENT_HEADER]: from.id };
    const outcomes = await Promise.all(
      [...chunks(followUps)].map(({ scraper, budget, payload }) =>
        // The same chunk twice is harmless: the tasks in it are known by their ids.
        publisher.publish({
          subject: subjectOf(scraper, from.run),
          payload,
          headers: budget === undefined ? headers : { ...headers, [BUDGET_HEADER]: budget },
          repeatable: true,
        }),
      ),
    );
    const failed = outcomes.find(({ kind }) => kind !== 'stored');
    if (failed && failed.kind !== 'stored')
      throw new Failure('UNAVAILABLE', `the intake did not take what it enqueued: ${failed.reason}`);
  };

  /** What goes to a scraper's standing run is taken in fastest where everybody sends it. */
  function subjectOf(scraper: string, run: string): string {
    return run === defaultRunId(scraper) ? names.submit(scraper) : names.submit(scraper, run);
  }
}

interface Chunk {
  readonly scraper: string;
  readonly budget: string | undefined;
  readonly payload: Uint8Array;
}

function* chunks(followUps: readonly FollowUp[]): Generator<Chunk> {
  for (const { scraper, budget, tasks } of groupsOf(followUps))
    for (let start = 0; start < tasks.length; start += CHUNK_TASKS)
      for (const payload of pack(tasks.slice(start, start + CHUNK_TASKS))) yield { scraper, budget, payload };
}

/** By scraper and budget, which hold for a whole message. */
function groupsOf(
  followUps: readonly FollowUp[],
): Iterable<Pick<Chunk, 'scraper' | 'budget'> & { readonly tasks: FollowUp[] }> {
  const groups = new Map<string, { scraper: string; budget: string | undefined; tasks: FollowUp[] }>();
  for (const each of followUps) {
    const { scraper } = each;
    const budget = each.budget && formatBudget(each.budget);
    const name = budget === undefined ? scraper : `${scraper} ${budget}`;
    const group = groups.get(name);
    if (group) group.tasks.push(each);
    else groups.set(name, { scraper, budget, tasks: [each] });
  }
  return groups.values();
}

function* pack(tasks: readonly FollowUp[]): Generator<Uint8Array> {
  const payload = encode(tasks.map(submittedOf));
  if (tasks.length === 1 || payload.length <= CHUNK_MAX_BYTES) {
    yield payload;
    return;
  }
  const half = Math.ceil(tasks.length / 2);
  yield* pack(tasks.slice(0, half));
  yield* pack(tasks.slice(half));
}

/** The fields of a task as a submitter writes them. */
function submittedOf({ url, key, input, priority }: FollowUp): object {
  return {
    ...(url !== undefined && { url }),
    ...(key !== undefined && { key }),
    ...(input !== undefined && { input }),
    priority,
  };
}
