/** Items from what was found: the same whichever way the page was read. */
import type { FieldReader, ListReader, Member } from './compile-fields.ts';
import type { Context, Converted } from './convert.ts';
import type { FieldSpec, SourcePage } from './field-spec.ts';
import { textOf } from './html-text.ts';
import type { JsonPath } from './json-path.ts';
import { tooMuch, VALUES_MAX, type Budget } from './limits.ts';
import { listOf, type FoundItem, type Raw } from './match-plan.ts';
import { copySafe } from './safe-value.ts';

export interface Extracted {
  readonly value: Readonly<Record<string, unknown>>;
  /** Empty: the item is as the template wants it. */
  readonly problems: readonly string[];
}

export interface Reading extends Context {
  readonly page: SourcePage;
  readonly html: string;
  readonly budget: Budget;
  /** Texts that were JSON, read once. */
  readonly parsed: Map<string, unknown>;
}

const NO_FOUND: FoundItem = { values: [], lists: [] };

export function readItem(
  members: readonly Member[],
  found: FoundItem,
  reading: Reading,
  json?: { readonly value: unknown },
): Extracted {
  const value: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const member of members) {
    if (member.kind === 'field') {
      value[member.name] = readField(member, found, reading, json, problems);
      continue;
    }
    const items = readList(member, found, reading, json);
    value[member.name] = items.map((item) => item.value);
    if (member.required && items.length === 0) problems.push(`${member.name} is missing`);
    for (const [index, item] of items.entries())
      for (const problem of item.problems) problems.push(`${member.name}[${index}].${problem}`);
  }
  return { value, problems };
}

export function readList(
  { members, list, path, slot }: ListReader,
  found: FoundItem,
  reading: Reading,
  json?: { readonly value: unknown },
): Extracted[] {
  if (path === undefined) {
    const items = list === undefined ? [] : (found.lists[list] ?? []);
    return items.map((item) => readItem(members, item, reading));
  }
  const roots =
    slot === undefined
      ? [json ? json.value : jsonOf(reading)]
      : jsonTexts(listOf(found.values[slot]), reading);
  const values = roots.flatMap((root) => path.read(root));
  if (values.length > VALUES_MAX) throw tooMuch(`more than ${VALUES_MAX} items in one list`);
  return values.map((value) => readItem(members, NO_FOUND, reading, { value }));
}

/** Adds what is wrong with the field to `problems`. */
function readField(
  field: FieldReader,
  found: FoundItem,
  reading: Reading,
  json: { readonly value: unknown } | undefined,
  problems: string[],
): unknown {
  const { spec, name } = field;
  if (spec.all !== true) {
    const first = findValue(field, found, reading, json);
    if (first === undefined) return absentValue(field, problems, null);
    if (first.problem === undefined) return first.value;
    problems.push(`${name} ${first.problem}`);
    return null;
  }
  const values: unknown[] = [];
  let count = 0;
  for (const each of findValues(field, found, reading, json)) {
    if (each === undefined) continue;
    count += 1;
    if (each.problem === undefined) values.push(each.value);
    else problems.push(`${name} ${each.problem}`);
  }
  return count === 0 ? absentValue(field, problems, values) : values;
}

/** The default, where there is one. */
function absentValue({ spec, name }: FieldReader, problems: string[], nothing: unknown): unknown {
  if (spec.required === true) problems.push(`${name} is missing`);
  return spec.default === undefined ? nothing : spec.default;
}

/** Most fields are this: one value, from one element. */
function findValue(
  field: FieldReader,
  found: FoundItem,
  reading: Reading,
  json: { readonly value: unknown } | undefined,
): Converted {
  if (field.slot === undefined || field.path)
    return findValues(field, found, reading, json).find((each) => each !== undefined);
  const raw = found.values[field.slot] as Raw | undefined;
  return raw === undefined || raw === null ? undefined : field.convert(rawText(raw, field, reading), reading);
}

function findValues(
  field: FieldReader,
  found: FoundItem,
  reading: Reading,
  json: { readonly value: unknown } | undefined,
): Converted[] {
  const { spec, slot, path, convert } = field;
  if (slot !== undefined) {
    const raws = listOf(found.values[slot]);
    if (path)
      return jsonTexts(raws, reading).flatMap((root) =>
        valuesAt(path, root, spec).map((each) => convertJson(field, each, reading)),
      );
    const converted: Converted[] = [];
    for (const raw of raws) if (raw !== null) converted.push(convert(rawText(raw, field, reading), reading));
    return converted;
  }
  if (spec.from === 'url') return [convert(reading.page.url, reading)];
  if (spec.from === 'header') {
    const text = headerOf(reading.page, spec.header ?? '');
    return [text === undefined ? undefined : convert(text, reading)];
  }
  const root = json ? json.value : jsonOf(reading);
  return (path ? valuesAt(path, root, spec) : [root]).map((each) => convertJson(field, each, reading));
}

/** Of a field that has one value, the first that is there; of one that has all of them, all or a refusal. */
function valuesAt(path: JsonPath, root: unknown, { all }: FieldSpec): readonly unknown[] {
  const values = path.read(root);
  if (values.length <= VALUES_MAX) return values;
  if (all === true) throw tooMuch(`more than ${VALUES_MAX} values of one field`);
  return values.slice(0, VALUES_MAX);
}

function convertJson({ spec, convert, check }: FieldReader, value: unknown, reading: Reading): Converted {
  if (value === null || value === undefined) return undefined;
  const asText = spec.type !== undefined && spec.type !== 'json';
  if (typeof value === 'string' && (asText || spec.re2 !== undefined)) {
    reading.budget.spend(value.length);
    return convert(value, reading);
  }
  if (typeof value === 'object' || !asText) {
    if (asText) return { value: undefined, problem: `is not ${spec.type ?? ''} but an object or a list` };
    const copy = copySafe(value, reading.budget);
    const problem = check?.(copy);
    return { value: copy, problem };
  }
  return convert(typeof value === 'number' ? plainNumber(value) : JSON.stringify(value), reading);
}

/** Never as 1e21, and never with a point that might be taken for a mark of thousands. */
function plainNumber(value: number): string {
  const text = String(value);
  return /^-?\d{1,3}\.\d{3}$/.test(text) ? `${text}0` : text;
}

function rawText(raw: NonNullable<Raw>, { spec }: FieldReader, { html, budget }: Reading): string {
  if (typeof raw === 'string') {
    budget.spend(raw.length);
    return raw;
  }
  budget.spend(raw.end - raw.start);
  return spec.type === 'html' ? html.slice(raw.start, raw.end) : textOf(html, raw);
}

/** Undefined where the text is no JSON. */
function jsonTexts(raws: readonly Raw[], reading: Reading): unknown[] {
  return raws.flatMap((raw) => {
    if (raw === null) return [];
    if (typeof raw !== 'string') reading.budget.spend(raw.end - raw.start);
    const text = typeof raw === 'string' ? raw : textOf(reading.html, raw);
    if (!reading.parsed.has(text)) reading.parsed.set(text, parseJson(text));
    return [reading.parsed.get(text)];
  });
}

function jsonOf({ page, parsed }: Reading): unknown {
  if (!parsed.has('')) parsed.set('', page.json());
  return parsed.get('');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function headerOf({ headers }: SourcePage, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(headers).find(([each]) => each.toLowerCase() === wanted)?.[1];
}
