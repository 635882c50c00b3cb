/** Checks a YAML tree against a shape and tells everything that is wrong with it at once, by line. */
import { messageOf } from '../domain/failure.ts';
import { pickNearest } from '../domain/nearest.ts';
import type { Parser } from './parsers.ts';
import type { Place, YamlValue } from './yaml-tree.ts';

/** Undefined: the value is wrong, and that was reported. */
export type Shape<T> = (value: YamlValue, report: Report, path: string) => T | undefined;
export type Report = (at: Place, problem: string) => void;

type Members = Readonly<Record<string, Shape<unknown>>>;
type Read<M extends Members> = { readonly [K in keyof M]?: M[K] extends Shape<infer T> ? T : never };

export function record<M extends Members>(
  members: M,
  options: { readonly required?: readonly (keyof M & string)[] } = {},
): Shape<Read<M>> {
  return (value, report, path) => {
    if (value.kind !== 'map') {
      report(value.at, `${path || 'the file'} must be lines of "key: value"`);
      return undefined;
    }
    const result: Record<string, unknown> = {};
    for (const { key, keyAt, value: each } of value.entries) {
      const shape = Object.hasOwn(members, key) ? members[key] : undefined;
      const name = path === '' ? key : `${path}.${key}`;
      if (!shape) report(keyAt, unknownKey(key, path, Object.keys(members)));
      else if (each.kind === 'empty') report(keyAt, `${name} has no value; give it one or remove the line`);
      else result[key] = shape(each, report, name);
    }
    for (const key of options.required ?? []) {
      if (!value.entries.some((entry) => entry.key === key))
        report(value.at, `${path === '' ? 'the file' : path} needs ${key}`);
    }
    return result as Read<M>;
  };
}

function unknownKey(key: string, path: string, known: readonly string[]): string {
  const nearest = pickNearest(key, known);
  const where = path === '' ? '' : ` in ${path}`;
  return `there is no ${JSON.stringify(key.slice(0, 60))}${where}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** Any keys that `isKey` takes, each with a value of one shape. */
export function dictionary<T>(
  shape: Shape<T>,
  key: { readonly isKey: (text: string) => boolean; readonly allowed: string },
): Shape<Readonly<Record<string, T>>> {
  return (value, report, path) => {
    if (value.kind !== 'map') {
      report(value.at, `${path} must be lines of "key: value"`);
      return undefined;
    }
    const result: Record<string, T> = {};
    for (const { key: name, keyAt, value: each } of value.entries) {
      if (!key.isKey(name)) {
        report(keyAt, `${JSON.stringify(name.slice(0, 60))} in ${path} must be ${key.allowed}`);
        continue;
      }
      const read = shape(each, report, `${path}.${name}`);
      if (read !== undefined) result[name] = read;
    }
    return result;
  };
}

/** A list; one value alone is a list of one. */
export function listOf<T>(shape: Shape<T>, itemsMax = 100): Shape<readonly T[]> {
  return (value, report, path) => {
    const items = value.kind === 'list' ? value.items : [value];
    if (items.length > itemsMax) report(value.at, `${path} has more than ${itemsMax} entries`);
    return items.slice(0, itemsMax).flatMap((each, index) => {
      const read = shape(each, report, value.kind === 'list' ? `${path}[${index}]` : path);
      return read === undefined ? [] : [read];
    });
  };
}

export function scalar<T>(parser: Parser<T>): Shape<T> {
  return (value, report, path) => {
    const parsed = value.kind === 'scalar' ? parser.parse(value.text) : undefined;
    if (parsed?.ok) return parsed.value;
    report(value.at, `${path} ${parsed?.problem ?? `must be ${parser.allowed}`}`);
    return undefined;
  };
}

export function oneOf<const T extends string>(options: readonly T[]): Shape<T> {
  return (value, report, path) => {
    const given = value.kind === 'scalar' ? value.text : '';
    const found = options.find((option) => option === given);
    if (found === undefined) {
      const nearest = pickNearest(given, options);
      report(
        value.at,
        `${path} must be one of ${options.join(', ')}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
      );
    }
    return found;
  };
}

/** A text that `use` must be able to read; what it throws is the problem. */
export function textFor(use: (text: string) => unknown): Shape<string> {
  return (value, report, path) => {
    if (value.kind !== 'scalar') {
      report(value.at, `${path} must be text`);
      return undefined;
    }
    try {
      use(value.text);
      return value.text;
    } catch (error) {
      report(value.at, `${path}: ${messageOf(error)}`);
      return undefined;
    }
  };
}

/** The value as it stands, for defaults and inputs. */
export const anything: Shape<unknown> = (value) => toPlain(value);

function toPlain(value: YamlValue): unknown {
  if (value.kind === 'scalar') return value.value;
  if (value.kind === 'list') return value.items.map(toPlain);
  if (value.kind === 'empty') return null;
  return Object.fromEntries(value.entries.map(({ key, value: each }) => [key, toPlain(each)]));
}
