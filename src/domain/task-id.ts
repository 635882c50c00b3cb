/**
 * The id of a task: 128 bits of SHA-256 over what makes it this task, as 22 characters that a subject and a command
 * line may hold.
 *
 *   scraper NUL "key"   NUL key
 *   scraper NUL "url"   NUL METHOD NUL normalised URL [ NUL canonical JSON of the body ]
 *   scraper NUL "input" NUL canonical JSON of the input
 *
 * The first that applies. A scraper's name, a method and a normalised URL never hold a NUL, so no two tasks
 * share one text. The run is no part of it: the same task in another run has the same id.
 */
import { hash } from 'node:crypto';
import { Failure } from './failure.ts';
import { normalizeUrl, type NormalizeOptions } from './url.ts';

export interface TaskIdentity {
  readonly scraper: string;
  readonly key?: string;
  readonly url?: string;
  /** GET unless given; upper and lower case are the same. */
  readonly method?: string;
  readonly body?: unknown;
  readonly input?: Readonly<Record<string, unknown>>;
}

const METHOD = /^[A-Za-z]{1,20}$/;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

export function createTaskId(task: TaskIdentity, options: NormalizeOptions = {}): string {
  return shortHash(`${task.scraper}\0${identityOf(task, options)}`);
}

/** The id under which something unreadable is buried: the same bytes at the same place of a message are one grave. */
export function createProblemId(problem: {
  readonly scraper: string;
  readonly index: number;
  readonly original: Uint8Array;
}): string {
  const { scraper, index, original } = problem;
  return shortHash(Buffer.concat([Buffer.from(`${scraper}\0problem\0${index}\0`), original]));
}

/**
 * 128 bits of SHA-256 as 22 characters of base64url. Where the first would be `-` it is `_`: people pass ids to
 * commands, which take what begins with `-` for an option.
 */
export function shortHash(data: string | Uint8Array): string {
  const text = hash('sha256', data, 'base64url');
  // 22 characters carry 132 bits. Clearing the last four of them here is three times as fast as cutting the bytes.
  const last = DIGITS[DIGITS.indexOf(text.charAt(21)) & 0b110000] ?? '';
  return (text.startsWith('-') ? `_${text.slice(1, 21)}` : text.slice(0, 21)) + last;
}

/** What makes it this task among those of its scraper, as text. */
export function identityOf(task: Omit<TaskIdentity, 'scraper'>, options: NormalizeOptions): string {
  if (task.key !== undefined) return `key\0${task.key}`;
  if (task.url !== undefined) {
    const page = `url\0${normalizeMethod(task.method)}\0${normalizeUrl(task.url, options)}`;
    return task.body === undefined ? page : `${page}\0${canonicalJson(task.body)}`;
  }
  if (task.input !== undefined) return `input\0${canonicalJson(task.input)}`;
  throw new Failure('INVALID', 'a task needs a url, a key or an input');
}

function normalizeMethod(method = 'GET'): string {
  if (METHOD.test(method)) return method.toUpperCase();
  throw new Failure('INVALID', 'the method must be a word such as GET or POST');
}

/**
 * The same text for the same value, whatever the order of its keys. Bytes are written in a form that JSON has not.
 * What JSON would write as `{}` whatever is inside (a Map, a Set) is refused: different tasks would share an id.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') throw notPlain();
  if (value === undefined || value === null) return 'null';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `bytes"${Buffer.from(value).toString('base64url')}"`;
  if (value instanceof Date) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain();
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}

function notPlain(): Failure {
  return new Failure('INVALID', 'the input holds something that is not plain data');
}
