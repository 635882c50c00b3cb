/** From the text that was found to the value that was wanted. */
import type { RE2JS } from 're2js';
import type { FieldCheck, FieldSpec } from './field-spec.ts';
import { foldSpace } from './html-text.ts';
import { compilePattern, createTaker, PATTERN_INPUT_MAX_CHARACTERS } from './pattern.ts';
import { createDateReader } from './read-date.ts';
import { readInteger, readNumber, readPrice } from './read-number.ts';

export interface Context {
  /** What links are relative to. */
  readonly base: string;
}

/** Undefined: nothing there. With a problem: something is there that cannot be read. */
export type Converted = { readonly value: unknown; readonly problem: string | undefined } | undefined;
export type Convert = (text: string, context: Context) => Converted;

const YES = /^(true|yes|y|on|1|ja|oui|si|sí|да|in stock|available|checked)$/i;
const NO = /^(false|no|n|off|0|nein|non|нет|none|out of stock|sold out|unavailable)$/i;
const SHOWN_MAX = 60;

/** Throws `INVALID` where the spec itself is wrong. */
export function createConvert(spec: FieldSpec): Convert {
  const type = spec.type ?? 'text';
  const take = spec.re2 === undefined ? undefined : createTaker(spec.re2, spec.group);
  const read = createReader(spec);
  const check = spec.check && createCheck(spec.check);
  return (found, context) => {
    const taken = take ? take(found) : found;
    if (taken === undefined) return undefined;
    const text = type === 'html' ? taken.trim() : foldSpace(taken);
    if (text === '') return undefined;
    const value = read(text, context);
    if (value === undefined) return { value, problem: `is not ${WORDS[type]}: ${show(text)}` };
    return { value, problem: check?.(value) };
  };
}

const WORDS = {
  text: 'text',
  html: 'HTML',
  json: 'JSON',
  number: 'a number',
  integer: 'a whole number',
  price: 'a price',
  date: 'a date',
  url: 'a URL of http or https',
  bool: 'yes or no',
} as const;

function createReader(spec: FieldSpec): (text: string, context: Context) => unknown {
  switch (spec.type ?? 'text') {
    case 'number':
      return readNumber;
    case 'integer':
      return readInteger;
    case 'price':
      return (text) => readPrice(text, spec.currency);
    case 'date':
      return createDateReader({ format: spec.format, zone: spec.zone });
    case 'url':
      return (text, { base }) => resolveUrl(text, base);
    case 'bool':
      return (text) => (YES.test(text) ? true : NO.test(text) ? false : undefined);
    case 'text':
    case 'html':
    case 'json':
      return (text) => text;
  }
}

/** As a browser would follow it; undefined for what is no page: `javascript:`, `mailto:`, nonsense. */
export function resolveUrl(text: string, base: string): string | undefined {
  try {
    const url = new URL(text, base);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A problem in words, or undefined. */
export function createCheck(check: FieldCheck): (value: unknown) => string | undefined {
  const pattern: RE2JS | undefined = check.matches === undefined ? undefined : compilePattern(check.matches);
  const { min = -Infinity, max = Infinity, oneOf } = check;
  return (value) => {
    const size = sizeOf(value);
    if (size !== undefined && size < min) return `is below ${min}: ${show(value)}`;
    if (size !== undefined && size > max) return `is above ${max}: ${show(value)}`;
    if (oneOf && !oneOf.includes(value as string)) return `is none of ${oneOf.join(', ')}: ${show(value)}`;
    if (pattern && !pattern.matcher(String(value).slice(0, PATTERN_INPUT_MAX_CHARACTERS)).find())
      return `does not match ${check.matches ?? ''}: ${show(value)}`;
    return undefined;
  };
}

/** Of a price its amount, of a text its length. */
function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return value.length;
  if (typeof value === 'object' && value !== null && 'amount' in value) return Number(value.amount);
  return undefined;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return (text ?? 'nothing').slice(0, SHOWN_MAX);
}
