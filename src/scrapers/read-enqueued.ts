/** What a handler hands to `enqueue` → the tasks that it means. Throws `INVALID` for what can be no task. */
import { Failure } from '../domain/failure.ts';
import { canonicalJson } from '../domain/task-id.ts';
import {
  PRIORITIES,
  PRIORITY_MAX,
  type FollowUp,
  type PageBudget,
  type PageLimits,
  type Priority,
  type TaskSpec,
} from '../domain/task.ts';
import { pageLimitsOf } from '../policy/follow-links.ts';
import { TOKEN } from '../wire/names.ts';
import { SUBMISSION_LIMITS } from '../wire/submission-fields.ts';
import { requestOf } from '../wire/submission-task.ts';
import type { Enqueued, EnqueueOptions, EnqueueRequest } from './enqueue.ts';

/** A name has no colon, and an address has one. */
export function readArguments(first: unknown, second: unknown): readonly EnqueueRequest[] {
  const stage = stageOf(first, second);
  if (stage !== undefined) {
    const inputs = Array.isArray(second) ? (second as unknown[]) : [second];
    return inputs.map((input) => ({ scraper: stage, input: input as Readonly<Record<string, unknown>> }));
  }
  const options = (second ?? {}) as EnqueueOptions;
  const many = Array.isArray(first) ? (first as readonly Enqueued[]) : [first as Enqueued];
  return many.map((each) =>
    typeof each === 'string' || each instanceof URL ? { ...options, url: each } : { ...options, ...each },
  );
}

function stageOf(first: unknown, second: unknown): string | undefined {
  if (typeof first === 'string') return second !== undefined && TOKEN.test(first) ? first : undefined;
  if (typeof first !== 'object' || first === null || second === undefined) return undefined;
  const { name, url } = first as { readonly name?: unknown; readonly url?: unknown };
  return typeof name === 'string' && url === undefined ? name : undefined;
}

export function readRequest(given: unknown, task: TaskSpec): FollowUp {
  if (typeof given !== 'object' || given === null)
    throw new Failure('INVALID', 'enqueue takes an address, a request, or a list of them');
  const { scraper = task.scraper, url, input, key, priority, budget, continues } = given as EnqueueRequest;
  if (typeof scraper !== 'string' || !TOKEN.test(scraper))
    throw new Failure('INVALID', 'enqueue: a scraper has a name of 1 to 64 letters, digits, - and _');
  if (key !== undefined && (key === '' || key.length > SUBMISSION_LIMITS.keyMaxLength))
    throw new Failure(
      'INVALID',
      `enqueue: a key has 1 to ${SUBMISSION_LIMITS.keyMaxLength} characters, not ${key.length}`,
    );
  if (input !== undefined) checkInput(input);
  if (input !== undefined && url !== undefined && key === undefined) requestOf(input);
  if (url === undefined && input === undefined && key === undefined)
    throw new Failure('INVALID', 'enqueue: a task needs a url, a key or an input');
  return {
    scraper,
    ...(url !== undefined && { url: String(url) }),
    ...(input !== undefined && { input }),
    ...(key !== undefined && { key }),
    priority: priority === undefined ? task.priority : readPriority(priority),
    ...(budget !== undefined && { budget: readBudget(budget, task) }),
    ...(continues === true && { continues }),
  };
}

function readBudget(limits: PageLimits, task: TaskSpec): PageBudget {
  for (const pages of [limits.pagesPerRun, limits.pagesPerHost])
    if (pages !== undefined && !(Number.isSafeInteger(pages) && pages >= 0))
      throw new Failure('INVALID', 'enqueue: a budget is a whole number of pages');
  return { scope: task.scraper, ...pageLimitsOf(limits) };
}

function checkInput(input: unknown): void {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new Failure('INVALID', 'enqueue: the input of a task is an object');
  const bytes = Buffer.byteLength(canonicalJson(input));
  if (bytes > SUBMISSION_LIMITS.taskMaxBytes)
    throw new Failure(
      'INVALID',
      `enqueue: a task has ${bytes} bytes: at most ${SUBMISSION_LIMITS.taskMaxBytes}`,
      { hint: 'Emit what is large, and enqueue where it is.' },
    );
}

function readPriority(given: number): Priority {
  const priority = PRIORITIES.find((known) => known === given);
  if (priority !== undefined) return priority;
  throw new Failure('INVALID', `enqueue: priority must be a whole number from 0 to ${PRIORITY_MAX}`);
}
