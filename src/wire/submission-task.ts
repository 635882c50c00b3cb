/**
 * One member of a message → one task.
 *
 * A text is its URL. Of an object, `url`, `key`, `priority`, `run`, `notBefore` and `input` are Trawl's, and null
 * there means not given. **Every other field is the scraper's: it joins `input`, exactly as if it had been written
 * inside it.** A name both beside `input` and in it is a problem, since one of the two would be lost. `method` and
 * `body` are such fields; with a `url` and no `key`, they are part of the task's identity as well, and nothing else
 * in `input` is: two tasks with one URL that should both run need a `key`.
 */
import { Failure } from '../domain/failure.ts';
import type { PageBudget, Priority } from '../domain/task.ts';
import { createTaskId } from '../domain/task-id.ts';
import { normalizeUrl, withoutTracking, type CleanUrl } from '../domain/url.ts';
import { refuseHostile } from './plain.ts';
import {
  parseKey,
  parseNotBefore,
  parsePriority,
  parseRun,
  shown,
  type SubmissionLimits,
} from './submission-fields.ts';

/** A task as submitted: all of a `TaskSpec` but the time, and the run when none was named. */
export interface ParsedRequest {
  readonly id: string;
  readonly run?: string;
  readonly scraper: string;
  readonly url?: string;
  readonly key?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly priority: Priority;
  readonly notBefore?: number; // epoch ms
  readonly depth?: number;
  readonly parent?: string;
}

/** What holds for every task of the message, unless the task says otherwise. */
export interface Envelope {
  readonly scraper: string;
  /** The run in the subject: no task may name another, since permissions go by subject. */
  readonly subjectRun: string | undefined;
  readonly run: string | undefined;
  readonly key: string | undefined;
  readonly priority: Priority;
  readonly notBefore: number | undefined;
  /** All tasks of a message were enqueued by one task, or by none. */
  readonly depth: number | undefined;
  readonly parent: string | undefined;
  readonly budget: PageBudget | undefined;
  /** Addresses go without the parameters that only track visitors, and are kept as `input.rawUrl` as they were. */
  readonly dropTracking: boolean;
  readonly now: number;
  readonly limits: SubmissionLimits;
}

type Fields = Readonly<Record<string, unknown>>;
type Draft = { -readonly [Name in keyof ParsedRequest]: ParsedRequest[Name] };

const OWN_FIELDS = new Set(['url', 'key', 'priority', 'run', 'notBefore', 'input']);

/** Throws `INVALID` with the reason. */
export function parseTask(value: unknown, envelope: Envelope): ParsedRequest {
  if (typeof value === 'string') return complete({ url: value }, envelope);
  if (!isObject(value)) throw new Failure('INVALID', `a task is a URL or an object, not ${shown(value)}`);
  refuseHostile(value);
  return complete(value, envelope);
}

/** The run that a member names, if it can be made out: a bad task is buried where it was meant to go. */
export function runOf(value: unknown, envelope: Envelope): string | undefined {
  try {
    return isObject(value) ? chooseRun(value, envelope) : envelope.run;
  } catch {
    return envelope.run;
  }
}

/** A run in the subject, in a header and in a field must agree where there is one in the subject. */
export function agreeOnRun(subjectRun: string | undefined, named: string): string {
  if (subjectRun === undefined || subjectRun === named) return named;
  throw new Failure('INVALID', `run ${shown(named)} is not the run of the subject, ${shown(subjectRun)}`);
}

function complete(fields: Fields, envelope: Envelope): ParsedRequest {
  const { url, raw } = readUrl(fields, envelope);
  const key = given(fields, 'key') ?? envelope.key;
  const input = gatherInput(fields);
  const run = chooseRun(fields, envelope);
  const notBefore = given(fields, 'notBefore');
  const dueAt = notBefore === undefined ? envelope.notBefore : parseNotBefore(notBefore, envelope);
  const priority = given(fields, 'priority');

  const draft: Draft = {
    id: '',
    scraper: envelope.scraper,
    priority: priority === undefined ? envelope.priority : parsePriority(priority),
  };
  if (run !== undefined) draft.run = run;
  if (url !== undefined) draft.url = url;
  if (key !== undefined) draft.key = parseKey(key, envelope.limits);
  if (raw !== undefined) draft.input = { rawUrl: raw, ...input };
  else if (input !== undefined) draft.input = input;
  if (dueAt !== undefined) draft.notBefore = dueAt;
  if (envelope.depth !== undefined) draft.depth = envelope.depth;
  if (envelope.parent !== undefined) draft.parent = envelope.parent;
  draft.id = identify(draft);
  return draft;
}

function readUrl(fields: Fields, { dropTracking }: Envelope): Partial<CleanUrl> {
  const written = given(fields, 'url');
  if (written === undefined) return {};
  if (typeof written !== 'string') throw new Failure('INVALID', `url must be text, not ${shown(written)}`);
  const url = written.trim();
  return dropTracking ? withoutTracking(url) : { url };
}

function identify(draft: Draft): string {
  const { scraper, url, key, input } = draft;
  if (key !== undefined) {
    if (url !== undefined) normalizeUrl(url); // only to check it
    return createTaskId({ scraper, key });
  }
  if (url !== undefined) return createTaskId({ scraper, url, ...(input && requestOf(input)) });
  if (input !== undefined) return createTaskId({ scraper, input });
  throw new Failure('INVALID', 'a task needs a url, a key or an input');
}

/** What in an input tells a task of an address apart from others of it. */
export function requestOf(input: Fields): { method?: string; body?: unknown } {
  const method = given(input, 'method');
  const body = given(input, 'body');
  if (method !== undefined && typeof method !== 'string')
    throw new Failure('INVALID', `method must be text, not ${shown(method)}`);
  return { ...(method !== undefined && { method }), ...(body !== undefined && { body }) };
}

function chooseRun(fields: Fields, envelope: Envelope): string | undefined {
  const run = given(fields, 'run');
  return run === undefined ? envelope.run : agreeOnRun(envelope.subjectRun, parseRun(run));
}

function gatherInput(fields: Fields): Fields | undefined {
  const inside = given(fields, 'input');
  if (inside !== undefined && !isObject(inside))
    throw new Failure('INVALID', `input must be an object, not ${shown(inside)}`);
  const beside = Object.keys(fields).filter((name) => !OWN_FIELDS.has(name));
  if (beside.length === 0) return inside;
  const twice = inside && beside.find((name) => Object.hasOwn(inside, name));
  if (twice !== undefined)
    throw new Failure('INVALID', `${shown(twice)} is given twice: beside input and inside it`);
  return { ...inside, ...Object.fromEntries(beside.map((name) => [name, fields[name]])) };
}

function given(fields: Fields, name: string): unknown {
  return fields[name] ?? undefined;
}

function isObject(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  );
}
