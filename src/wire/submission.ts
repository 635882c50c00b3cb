/**
 * What anyone publishes to `submit` → tasks. The body is a URL, several URLs one per line, JSON (an object, an array,
 * or one value per line) or msgpack (a text, a map, an array); the layouts are in `submission-text.ts`, the rules for
 * one task in `submission-task.ts`.
 *
 * The headers Trawl-Priority, Trawl-Run, Trawl-Not-Before and, for a single task, Trawl-Key hold for every task of the
 * message; a field of the task beats the header. Trawl-Depth and Trawl-Parent say which task enqueued them, and
 * Trawl-Budget how many of their kind the run may have; with Trawl-Drop-Tracking: true their addresses go without the
 * parameters that only track visitors. Nothing submitted vanishes: a member that is no task becomes a
 * problem that keeps its bytes and costs its neighbours nothing, and a message that cannot be read at all, or whose
 * subject or headers are wrong, becomes one problem that keeps all of them.
 */
import { asFailure, Failure } from '../domain/failure.ts';
import { defaultRunId } from '../domain/run-id.ts';
import type { PageBudget } from '../domain/task.ts';
import { createProblemId } from '../domain/task-id.ts';
import { TOKEN } from './names.ts';
import {
  parseBudget,
  parseDepth,
  parseFlag,
  parseKey,
  parseNotBefore,
  parseParent,
  parsePriority,
  parseRun,
  shown,
  type SubmissionLimits,
} from './submission-fields.ts';
import { readMembers, type Members } from './submission-members.ts';
import { agreeOnRun, parseTask, runOf, type Envelope, type ParsedRequest } from './submission-task.ts';

/** What a worker says about the tasks that a task of its own led to. */
export const DEPTH_HEADER = 'Trawl-Depth';
export const PARENT_HEADER = 'Trawl-Parent';
export const BUDGET_HEADER = 'Trawl-Budget';
/** What a submitter may say. */
export const DROP_TRACKING_HEADER = 'Trawl-Drop-Tracking';

export interface Submission {
  /** Tokens of the subject. */
  readonly subject: { readonly scraper: string; readonly run?: string };
  headers(name: string): string | undefined;
  readonly data: Uint8Array;
  readonly now: number; // epoch ms
  readonly limits: SubmissionLimits;
}

/** Something submitted that is no task. */
export interface ParsedProblem {
  /** Place among the members of the message, from 0. */
  readonly index: number;
  /** The same at every delivery of the message. */
  readonly id: string;
  readonly run?: string;
  readonly scraper: string;
  readonly reason: string;
  /** May be a view of the message's own bytes. */
  readonly original: Uint8Array;
}

export interface ParsedSubmission {
  readonly requests: readonly ParsedRequest[];
  readonly problems: readonly ParsedProblem[];
  /** Members that are the same task as an earlier one of the message, which alone was kept. */
  readonly duplicates: number;
  /** That holds for all its tasks. */
  readonly budget?: PageBudget;
}

/** Never throws. Every member is in exactly one of requests, problems and duplicates. */
export function parseSubmission(submission: Submission): ParsedSubmission {
  const { scraper } = submission.subject;
  try {
    const envelope = readEnvelope(submission);
    const members = readMembers(submission.data);
    refuseCrowd(members, envelope);
    return parseMembers(members, envelope, submission.data.length);
  } catch (error) {
    const { run } = submission.subject;
    const problem = { index: 0, scraper, ...(isToken(run) && { run }), original: submission.data };
    return { requests: [], problems: [describe(problem, error)], duplicates: 0 };
  }
}

function parseMembers(members: Members, envelope: Envelope, messageBytes: number): ParsedSubmission {
  const requests: ParsedRequest[] = [];
  const problems: ParsedProblem[] = [];
  const seen = new Set<string>();
  const defaultRun = defaultRunId(envelope.scraper);
  const mayHoldGiants = messageBytes > envelope.limits.taskMaxBytes;

  for (let index = 0; index < members.count; index += 1) {
    let value: unknown;
    try {
      if (mayHoldGiants) refuseGiant(members.bytes(index), envelope.limits);
      value = members.read(index);
      const request = parseTask(value, envelope);
      // The same id in two runs is two tasks.
      const place = `${request.run ?? defaultRun} ${request.id}`;
      if (!seen.has(place)) requests.push(request);
      seen.add(place);
    } catch (error) {
      const run = runOf(value, envelope);
      const original = members.bytes(index);
      problems.push(describe({ index, scraper: envelope.scraper, ...(run && { run }), original }, error));
    }
  }
  const duplicates = members.count - requests.length - problems.length;
  return { requests, problems, duplicates, ...(envelope.budget && { budget: envelope.budget }) };
}

function describe(problem: Omit<ParsedProblem, 'id' | 'reason'>, error: unknown): ParsedProblem {
  return { ...problem, id: createProblemId(problem), reason: asFailure(error).message };
}

function readEnvelope(submission: Submission): Envelope {
  const { subject, now, limits } = submission;
  if (!isToken(subject.scraper)) throw badToken('scraper', subject.scraper);
  if (subject.run !== undefined && !isToken(subject.run)) throw badToken('run', subject.run);
  return {
    scraper: subject.scraper,
    subjectRun: subject.run,
    run: fromHeader('Trawl-Run', (text) => agreeOnRun(subject.run, parseRun(text))) ?? subject.run,
    key: fromHeader('Trawl-Key', (text) => parseKey(text, limits)),
    priority:
      fromHeader('Trawl-Priority', (text) => parsePriority(/^\d+$/.test(text) ? Number(text) : text)) ?? 0,
    notBefore: fromHeader('Trawl-Not-Before', (text) => parseNotBefore(text, { now, limits })),
    depth: fromHeader(DEPTH_HEADER, parseDepth),
    parent: fromHeader(PARENT_HEADER, parseParent),
    budget: fromHeader(BUDGET_HEADER, parseBudget),
    dropTracking: fromHeader(DROP_TRACKING_HEADER, parseFlag) ?? false,
    now,
    limits,
  };

  function fromHeader<T>(name: string, parse: (text: string) => T): T | undefined {
    const text = submission.headers(name)?.trim();
    if (text === undefined || text === '') return undefined;
    try {
      return parse(text);
    } catch (error) {
      throw new Failure('INVALID', `header ${name}: ${asFailure(error).message}`, { cause: error });
    }
  }
}

function refuseCrowd(members: Members, { limits, key }: Envelope): void {
  if (members.count > limits.tasksMax) {
    const words = `${members.count} tasks in one message: at most ${limits.tasksMax}; send them in several messages`;
    throw new Failure('INVALID', words);
  }
  if (key !== undefined && members.count > 1)
    throw new Failure('INVALID', `header Trawl-Key names one task, but the message has ${members.count}`);
}

function refuseGiant(bytes: Uint8Array, limits: SubmissionLimits): void {
  if (bytes.length <= limits.taskMaxBytes) return;
  throw new Failure('INVALID', `the task has ${bytes.length} bytes: at most ${limits.taskMaxBytes}`);
}

function badToken(what: string, value: string): Failure {
  const words = `the ${what} in the subject must be 1 to 64 letters, digits, _ or -, not ${shown(value)}`;
  return new Failure('INVALID', words);
}

function isToken(text: string | undefined): text is string {
  return text !== undefined && TOKEN.test(text);
}
