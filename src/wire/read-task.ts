/**
 * The quick way to read a task that arrived whole, which is nearly every one: a worker reads tens of thousands in a
 * second, and checking each by its schema takes longer than unpacking it. Takes what the schema takes, and gives the
 * same; whatever looks unusual is left to the schema, which can also say what is wrong.
 */
import { PRIORITY_MAX, type Priority, type TaskMessage, type TaskSpec } from '../domain/task.ts';

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
type Fields = Readonly<Record<string, unknown>>;

/** Undefined: the schema has to look. */
export function readTask(value: Fields): TaskMessage | undefined {
  const { acceptSeq, faults, triedProxies, deferrals, deferredSince } = value;
  if (!isCount(acceptSeq) || !isCount(deferrals) || deferredSince !== undefined) return undefined;
  // One that was tried before takes the long way.
  if (!isEmptyList(faults) || !isEmptyList(triedProxies)) return undefined;
  const spec = readSpec(value['spec']);
  return spec && { spec, acceptSeq, faults: [], triedProxies: [], deferrals };
}

function readSpec(value: unknown): TaskSpec | undefined {
  if (!isObject(value)) return undefined;
  const { id, run, scraper, priority, createdAt } = value;
  if (typeof id !== 'string' || typeof run !== 'string' || typeof scraper !== 'string') return undefined;
  if (!isPriority(priority) || !isCount(createdAt)) return undefined;
  const spec: Mutable<TaskSpec> = { id, run, scraper, priority, createdAt };
  return addTexts(spec, value) && addNumbers(spec, value) && addInput(spec, value) ? spec : undefined;
}

function addTexts(spec: Mutable<TaskSpec>, { url, key, parent }: Fields): boolean {
  if (typeof url === 'string') spec.url = url;
  else if (url !== undefined) return false;
  if (typeof key === 'string') spec.key = key;
  else if (key !== undefined) return false;
  if (typeof parent === 'string') spec.parent = parent;
  return parent === undefined || typeof parent === 'string';
}

function addNumbers(spec: Mutable<TaskSpec>, { intake, notBefore, depth }: Fields): boolean {
  if (isCount(intake)) spec.intake = intake;
  else if (intake !== undefined) return false;
  if (isCount(notBefore)) spec.notBefore = notBefore;
  else if (notBefore !== undefined) return false;
  if (isCount(depth)) spec.depth = depth;
  return depth === undefined || isCount(depth);
}

function addInput(spec: Mutable<TaskSpec>, { input }: Fields): boolean {
  if (isObject(input)) spec.input = input;
  return input === undefined || isObject(input);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isPriority(value: unknown): value is Priority {
  return isCount(value) && value <= PRIORITY_MAX;
}
