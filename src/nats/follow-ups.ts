/** Puts into the intake what a task has led to, under the run of that task, with how deep it is and where it came from. */
import { Failure } from '../domain/failure.ts';
import { defaultRunId } from '../domain/run-id.ts';
import { depthAfter, type FollowUp, type TaskSpec } from '../domain/task.ts';
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
    const outcomes = await Promise.all(
      [...chunks(followUps, from)].map(({ scraper, headers, payload }) =>
        // The same chunk twice is harmless: the tasks in it are known by their ids.
        publisher.publish({ subject: subjectOf(scraper, from.run), payload, headers, repeatable: true }),
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

/** What holds for a whole message. */
interface Frame {
  readonly scraper: string;
  readonly headers: Readonly<Record<string, string>>;
}

function* chunks(
  followUps: readonly FollowUp[],
  from: TaskSpec,
): Generator<Frame & { readonly payload: Uint8Array }> {
  for (const { tasks, ...frame } of groupsOf(followUps, from))
    for (let start = 0; start < tasks.length; start += CHUNK_TASKS)
      for (const payload of pack(tasks.slice(start, start + CHUNK_TASKS))) yield { ...frame, payload };
}

function groupsOf(
  followUps: readonly FollowUp[],
  from: TaskSpec,
): Iterable<Frame & { readonly tasks: FollowUp[] }> {
  const groups = new Map<string, Frame & { readonly tasks: FollowUp[] }>();
  for (const each of followUps) {
    const { scraper } = each;
    const depth = String(depthAfter(from, each));
    const budget = each.budget && formatBudget(each.budget);
    const name = `${scraper} ${depth} ${budget ?? ''}`;
    const group = groups.get(name);
    if (group) {
      group.tasks.push(each);
      continue;
    }
    const origin = { [DEPTH_HEADER]: depth, [PARENT_HEADER]: from.id };
    const headers = budget === undefined ? origin : { ...origin, [BUDGET_HEADER]: budget };
    groups.set(name, { scraper, headers, tasks: [each] });
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
