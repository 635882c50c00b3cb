/** How fields are written: a selector alone, or lines that say more. */
import { integer, text, token, yesOrNo } from '../config/parsers.ts';
import { anything, dictionary, listOf, oneOf, record, scalar, textFor, type Shape } from '../config/shape.ts';
import { createSelecting } from '../extract/css.ts';
import { compileDateFormat } from '../extract/date-format.ts';
import { FIELD_SOURCES, FIELD_TYPES, type FieldSpec, type ListSpec } from '../extract/field-spec.ts';
import { parseJsonPath } from '../extract/json-path.ts';
import { compilePattern, createTaker } from '../extract/pattern.ts';
import { isUnsafeKey } from '../extract/safe-value.ts';
import { parseSelector } from '../extract/selector.ts';
import { checkTimeZone } from '../policy/time-zone.ts';

const NAME = /^[A-Za-z_][\w-]{0,63}$/;

export const selector = textFor((given) => createSelecting([parseSelector(given)]));
const jsonPath = textFor(parseJsonPath);
const pattern = textFor(compilePattern);
const zone = textFor((given) => {
  const problem = checkTimeZone(given);
  if (problem !== undefined) throw new Error(problem);
});
const currency = textFor((given) => {
  if (!/^[A-Z]{3}$/.test(given)) throw new Error('must be three capital letters, such as EUR');
});

const number: Shape<number> = (value, report, path) => {
  if (value.kind === 'scalar' && typeof value.value === 'number' && Number.isFinite(value.value))
    return value.value;
  report(value.at, `${path} must be a number`);
  return undefined;
};

const plain: Shape<string | number | boolean> = (value, report, path) => {
  if (value.kind === 'scalar') return value.value;
  report(value.at, `${path} must be text, a number, true or false`);
  return undefined;
};

const members = {
  from: oneOf(FIELD_SOURCES),
  css: selector,
  attr: scalar(text),
  json: jsonPath,
  header: scalar(text),
  re2: pattern,
  group: plain as Shape<number | string>,
  type: oneOf(FIELD_TYPES),
  format: textFor(compileDateFormat),
  zone,
  currency,
  all: scalar(yesOrNo),
  required: scalar(yesOrNo),
  default: anything,
  check: record({ min: number, max: number, matches: pattern, oneOf: listOf(plain) }),
  each: scalar(text),
  fields: fieldsShape,
};

const full = record(members);

/** One word or line alone is a selector; within JSON, a path. */
function field(inJson: boolean): Shape<FieldSpec> {
  return (value, report, path) => {
    if (value.kind === 'scalar') {
      if (!inJson) return { css: selector(value, report, path) };
      return { from: 'json', json: jsonPath(value, report, path) };
    }
    if (value.kind === 'map') {
      const from = value.entries.find(({ key }) => key === 'from')?.value;
      const isJson = inJson || (from?.kind === 'scalar' && from.text === 'json');
      const read = record({ ...members, fields: fieldsOf(isJson), each: isJson ? jsonPath : selector })(
        value,
        report,
        path,
      );
      if (!read) return undefined;
      for (const problem of findClashes(read, isJson)) report(value.at, `${path} ${problem}`);
      return isJson && !read.from ? { ...read, from: 'json' } : read;
    }
    return full(value, report, path);
  };
}

function findClashes(spec: FieldSpec, inJson: boolean): string[] {
  const problems: string[] = [];
  const isList = spec.each !== undefined || spec.fields !== undefined;
  if (isList && (spec.each === undefined || spec.fields === undefined))
    problems.push('needs both each and fields');
  if (isList && (spec.attr ?? spec.json ?? spec.re2 ?? spec.type) !== undefined)
    problems.push('is a list of objects, so attr, json, re2 and type belong into its fields');
  if (spec.group !== undefined && spec.re2 === undefined) problems.push('has a group, but no re2');
  if (spec.re2 !== undefined) problems.push(...groupProblem(spec.re2, spec.group));
  if (spec.attr !== undefined && inJson && spec.css === undefined)
    problems.push('has an attr, but is from JSON');
  if ((spec.from === 'header') !== (spec.header !== undefined))
    problems.push('needs from: header and header: name together');
  if (spec.from === 'url' && (spec.css ?? spec.json) !== undefined)
    problems.push('is from the URL, so it has no css or json');
  if (spec.type !== 'date' && (spec.format ?? spec.zone) !== undefined)
    problems.push('has format or zone, but is no date');
  if (spec.type !== 'price' && spec.currency !== undefined) problems.push('has a currency, but is no price');
  return problems;
}

function groupProblem(re2: string, group: FieldSpec['group']): string[] {
  try {
    createTaker(re2, group);
    return [];
  } catch (error) {
    return [`re2: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Written as a function, because fields hold fields. */
function fieldsShape(...given: Parameters<Shape<unknown>>): Readonly<Record<string, FieldSpec>> | undefined {
  return fieldsOf(false)(...given);
}

export function fieldsOf(inJson: boolean): Shape<Readonly<Record<string, FieldSpec>>> {
  return (...given) =>
    dictionary(field(inJson), {
      isKey: (name) => NAME.test(name) && !isUnsafeKey(name),
      allowed: 'a name of letters, digits, _ and -, and none that objects have by themselves',
    })(...given);
}

/** `items:` of a page. */
export const itemsShape: Shape<ListSpec> = (value, report, path) => {
  const from = value.kind === 'map' ? value.entries.find(({ key }) => key === 'from')?.value : undefined;
  const inJson = from?.kind === 'scalar' && from.text === 'json';
  const read = record(
    {
      from: oneOf(['html', 'json']),
      css: selector,
      each: inJson ? jsonPath : selector,
      fields: fieldsOf(inJson),
    },
    { required: ['each', 'fields'] },
  )(value, report, path);
  if (!read) return undefined;
  if (read.css !== undefined && !inJson)
    report(value.at, `${path}.css is only for items from JSON; use each`);
  return { from: read.from, css: read.css, each: read.each ?? '', fields: read.fields ?? {} };
};

export const count = scalar(integer({ min: 0, max: 1_000_000_000 }));
export const word = scalar(token(64));
