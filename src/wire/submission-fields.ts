/** The fields of a task that Trawl itself reads, from an object or from a header of the message. */
import { Failure } from '../domain/failure.ts';
import { isRunId } from '../domain/run-id.ts';
import { PRIORITIES, PRIORITY_MAX, type PageBudget, type Priority } from '../domain/task.ts';
import { TOKEN } from './names.ts';

/** What one message may hold. */
export interface SubmissionLimits {
  readonly tasksMax: number;
  readonly taskMaxBytes: number;
  readonly keyMaxLength: number;
  readonly notBeforeMaxMs: number; // from now
}

const DAY_MS = 86_400_000;

export const SUBMISSION_LIMITS: SubmissionLimits = {
  tasksMax: 10_000,
  taskMaxBytes: 256 * 1024,
  keyMaxLength: 512,
  notBeforeMaxMs: 366 * DAY_MS,
};

// Without a zone the time would be that of whichever machine reads it.
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
/** A number below this, as milliseconds, is in 1970 to 1973: somebody sent seconds. */
const SECONDS_BELOW = 100_000_000_000;

export function parsePriority(value: unknown): Priority {
  const priority = PRIORITIES.find((known) => known === value);
  if (priority !== undefined) return priority;
  throw new Failure(
    'INVALID',
    `priority must be a whole number from 0 to ${PRIORITY_MAX}, not ${shown(value)}`,
  );
}

export function parseRun(value: unknown): string {
  if (typeof value === 'string' && isRunId(value)) return value;
  throw new Failure('INVALID', `run must be 1 to 64 letters, digits, _ or -, not ${shown(value)}`);
}

export function parseKey(value: unknown, limits: SubmissionLimits): string {
  if (typeof value !== 'string') throw new Failure('INVALID', `key must be text, not ${shown(value)}`);
  if (value === '') throw new Failure('INVALID', 'key is empty');
  if (value.length <= limits.keyMaxLength) return value;
  throw new Failure('INVALID', `key is too long: at most ${limits.keyMaxLength} characters`);
}

/** Epoch milliseconds, as a number or in digits, or an ISO time → epoch milliseconds. */
export function parseNotBefore(value: unknown, bounds: { now: number; limits: SubmissionLimits }): number {
  const time = typeof value === 'string' ? timeOf(value.trim()) : value;
  if (typeof time !== 'number' || !Number.isSafeInteger(time) || time < 0) {
    throw new Failure(
      'INVALID',
      `notBefore must be epoch milliseconds or a time such as 2026-01-31T08:00:00Z, not ${shown(value)}`,
    );
  }
  if (time > 0 && time < SECONDS_BELOW) {
    throw new Failure('INVALID', `notBefore ${time} looks like seconds; it must be epoch milliseconds`);
  }
  if (time - bounds.now <= bounds.limits.notBeforeMaxMs) return time;
  const days = Math.floor(bounds.limits.notBeforeMaxMs / DAY_MS);
  throw new Failure('INVALID', `notBefore ${shown(value)} is too far ahead: at most ${days} days`);
}

function timeOf(text: string): number | undefined {
  if (/^\d{1,16}$/.test(text)) return Number(text);
  return ISO_TIME.test(text) ? Date.parse(text) : undefined;
}

/** Deeper than this is a circle of tasks, not a crawl. */
export const DEPTH_LEVELS_MAX = 100_000;
/** As a header says it. */
export function parseFlag(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new Failure('INVALID', `it must be true or false, not ${shown(text)}`);
}

const TASK_ID = /^[A-Za-z0-9_-]{22}$/;

/** How many tasks led to the tasks of a message, as a header says it. */
export function parseDepth(text: string): number {
  const depth = /^\d{1,6}$/.test(text) ? Number(text) : Infinity;
  if (depth <= DEPTH_LEVELS_MAX) return depth;
  throw new Failure('INVALID', `it must be a whole number from 0 to ${DEPTH_LEVELS_MAX}, not ${shown(text)}`);
}

export function parseParent(text: string): string {
  if (TASK_ID.test(text)) return text;
  throw new Failure('INVALID', `it must be the id of a task, not ${shown(text)}`);
}

const AMOUNT = String.raw`(-|\d{1,15})`;
const BUDGET = new RegExp(`^(\\S+) ${AMOUNT} ${AMOUNT}$`);

/** `<scraper> <pages of the run> <pages of a host>`; `-` is no limit. */
export function parseBudget(text: string): PageBudget {
  const [, scope = '', perRun = '', perHost = ''] = BUDGET.exec(text) ?? [];
  if (!TOKEN.test(scope))
    throw new Failure('INVALID', `it must be a scraper and two numbers of pages, or -, not ${shown(text)}`);
  return {
    scope,
    ...(perRun !== '-' && { pagesPerRun: Number(perRun) }),
    ...(perHost !== '-' && { pagesPerHost: Number(perHost) }),
  };
}

export function formatBudget({ scope, pagesPerRun, pagesPerHost }: PageBudget): string {
  return `${scope} ${pagesPerRun ?? '-'} ${pagesPerHost ?? '-'}`;
}

/** A value in a sentence: short, whatever it is. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (value instanceof Uint8Array) return 'bytes';
  return Array.isArray(value) ? 'an array' : 'an object';
}
