/** A small part of JSON path: `$.a.b[0]`, `['a b']`, `[*]`, `.*`, `..name`. Only own members are ever read. */
import { Failure } from '../domain/failure.ts';
import { isUnsafeKey } from './safe-value.ts';

type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'each' }
  | { readonly kind: 'deep'; readonly name: string };

export interface JsonPath {
  readonly text: string;
  readonly read: (root: unknown) => readonly unknown[];
}

const PATH_MAX_CHARACTERS = 512;
/** Values that one step may look at, and find; `..name` goes through everything below. */
const VISITS_MAX = 1_000_000;
const DEPTH_MAX = 64;
const STEP =
  /\.\.([\p{L}\p{N}_$@-]+)|\.([\p{L}\p{N}_$@-]+)|(\.\*|\[\*\])|\[(-?\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/uy;

export function parseJsonPath(given: string): JsonPath {
  const text = given.trim();
  if (text.length > PATH_MAX_CHARACTERS) throw refuse(`it is longer than ${PATH_MAX_CHARACTERS} characters`);
  // The `$` may be left out: `offers.price`.
  const path = text.startsWith('$') ? text.slice(1) : /^[.[]/.test(text) ? text : `.${text}`;
  const steps: Step[] = [];
  const reader = new RegExp(STEP);
  while (reader.lastIndex < path.length) {
    const at = reader.lastIndex;
    const found = reader.exec(path);
    if (!found) throw refuse(`at "${path.slice(at, at + 20)}"`);
    steps.push(readStep(found));
  }
  return { text, read: (root) => steps.reduce<readonly unknown[]>(takeStep, [root]) };
}

function readStep([, deep, member, each, index, quoted, doubleQuoted]: RegExpExecArray): Step {
  if (each !== undefined) return { kind: 'each' };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  const name = deep ?? member ?? quoted ?? doubleQuoted ?? '';
  if (isUnsafeKey(name)) throw refuse(`${name} is never read`);
  return { kind: deep === undefined ? 'member' : 'deep', name };
}

function refuse(why: string): Failure {
  return new Failure('INVALID', `the JSON path cannot be read: ${why}`, {
    hint: "Write it as $.a.b[0], $['a b'], $.list[*].name or $..name.",
  });
}

function takeStep(from: readonly unknown[], step: Step): readonly unknown[] {
  const found: unknown[] = [];
  let visits = 0;
  for (const value of from) {
    if (found.length >= VISITS_MAX) break;
    if (step.kind === 'deep') deep(value, step.name, 0);
    else if (step.kind === 'index') {
      if (Array.isArray(value)) add(value.at(step.index));
    } else if (step.kind === 'member') add(memberOf(value, step.name));
    else for (const each of valuesOf(value)) add(each);
  }
  return found;

  function add(value: unknown): void {
    if (value !== undefined && found.length < VISITS_MAX) found.push(value);
  }

  function deep(value: unknown, name: string, depth: number): void {
    visits += 1;
    if (visits > VISITS_MAX || depth > DEPTH_MAX || typeof value !== 'object' || value === null) return;
    add(memberOf(value, name));
    for (const each of valuesOf(value)) deep(each, name, depth + 1);
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function valuesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}
