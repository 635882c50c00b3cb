/**
 * CSS selectors, read once. Those whose answer is known as soon as an element opens (names, classes, ids, attributes,
 * what stands around it and before it) can be matched while a page is read; the others need the whole tree.
 */
import {
  AttributeAction,
  isTraversal,
  parse,
  SelectorType,
  type AttributeSelector,
  type PseudoSelector,
  type Selector,
} from 'css-what';
import { Failure, messageOf } from '../domain/failure.ts';
import { CASELESS_ATTRIBUTES } from './html-rules.ts';

export const SELECTOR_MAX_CHARACTERS = 512;
const COMPOUNDS_MAX = 16;

export type Relation = 'root' | 'inside' | 'child' | 'next' | 'after';

export interface AttributeTest {
  readonly name: string;
  /** The value must hold this as a word of its own; the most common test by far, so it is not a function. */
  readonly word?: string;
  readonly test?: (value: string) => boolean;
}

/** The part of a selector that is about one element. */
export interface Compound {
  /** How it stands to the part before it. */
  readonly relation: Relation;
  readonly tag: string | undefined;
  readonly attributes: readonly AttributeTest[];
  /** Its number among its siblings, from 1. */
  readonly place: ((index: number) => boolean) | undefined;
}

export interface ParsedSelector {
  readonly text: string;
  /** Alternatives, each from the outermost part to the element itself; undefined: needs the tree. */
  readonly streams: readonly (readonly Compound[])[] | undefined;
  /** Speaks of the element it starts from, so it must be compiled anew for each. */
  readonly isRelative: boolean;
}

export function parseSelector(text: string): ParsedSelector {
  if (text.length > SELECTOR_MAX_CHARACTERS)
    throw new Failure('INVALID', `the selector is longer than ${SELECTOR_MAX_CHARACTERS} characters`);
  let alternatives: Selector[][];
  try {
    alternatives = parse(text);
  } catch (cause) {
    throw new Failure('INVALID', `the selector cannot be read: ${messageOf(cause)}`, { cause });
  }
  const isRelative = alternatives.some(
    ([first, ...rest]) =>
      (first !== undefined && isTraversal(first)) || [first, ...rest].some((token) => isScope(token)),
  );
  const streams = isRelative ? [] : alternatives.map(readCompounds);
  return { text, isRelative, streams: isRelative || !streams.every(isKnown) ? undefined : streams };
}

function isScope(token: Selector | undefined): boolean {
  return (
    token?.type === SelectorType.Pseudo &&
    (token.name === 'scope' || JSON.stringify(token.data).includes('"scope"'))
  );
}

function isKnown<T>(value: T | undefined): value is T {
  return value !== undefined;
}

const RELATIONS: Partial<Record<Selector['type'], Relation>> = {
  descendant: 'inside',
  child: 'child',
  adjacent: 'next',
  sibling: 'after',
};

function readCompounds(tokens: readonly Selector[]): Compound[] | undefined {
  const compounds: Compound[] = [];
  let relation: Relation | undefined = 'root';
  let part: Selector[] = [];
  for (const token of [...tokens, undefined]) {
    if (token !== undefined && !isTraversal(token)) {
      part.push(token);
      continue;
    }
    const compound = readCompound(part, relation);
    if (compound === undefined || compounds.length >= COMPOUNDS_MAX) return undefined;
    compounds.push(compound);
    if (token !== undefined) relation = RELATIONS[token.type];
    if (relation === undefined) return undefined;
    part = [];
  }
  return compounds;
}

function readCompound(tokens: readonly Selector[], relation: Relation): Compound | undefined {
  let tag: string | undefined;
  let place: Compound['place'];
  const attributes: AttributeTest[] = [];
  if (tokens.length === 0) return undefined;
  for (const token of tokens) {
    if (token.type === SelectorType.Universal && token.namespace === null) continue;
    else if (token.type === SelectorType.Tag && token.namespace === null && tag === undefined)
      tag = token.name.toLowerCase();
    else if (token.type === SelectorType.Attribute && token.namespace === null) {
      const test = readAttributeTest(token);
      if (test === undefined) return undefined;
      attributes.push(test);
    } else if (token.type === SelectorType.Pseudo && place === undefined) {
      place = readPlace(token);
      if (place === undefined) return undefined;
    } else return undefined;
  }
  return { relation, tag, attributes, place };
}

function readAttributeTest({
  name: given,
  action,
  value,
  ignoreCase,
}: AttributeSelector): AttributeTest | undefined {
  const name = given.toLowerCase();
  const folds = ignoreCase === null ? CASELESS_ATTRIBUTES.has(name) : ignoreCase === true;
  if (action === AttributeAction.Exists) return { name };
  if (
    action === AttributeAction.Not ||
    /[^\0-\x7f]/.test(value) ||
    (value === '' && action !== AttributeAction.Equals)
  )
    return undefined;
  if (action === AttributeAction.Element && !folds)
    return /\s/.test(value) ? undefined : { name, word: value };
  const wanted = folds ? value.toLowerCase() : value;
  const compare = COMPARE[action];
  if (compare === undefined) return undefined;
  return {
    name,
    test: folds ? (text) => compare(text.toLowerCase(), wanted) : (text) => compare(text, wanted),
  };
}

const COMPARE: Partial<Record<AttributeSelector['action'], (text: string, value: string) => boolean>> = {
  equals: (text, value) => text === value,
  hyphen: (text, value) => text === value || text.startsWith(`${value}-`),
  start: (text, value) => text.startsWith(value),
  end: (text, value) => text.endsWith(value),
  any: (text, value) => text.includes(value),
};

function readPlace({ name, data }: PseudoSelector): Compound['place'] {
  if (name === 'first-child') return (index) => index === 1;
  if (name !== 'nth-child' || typeof data !== 'string') return undefined;
  const text = data.trim().toLowerCase();
  if (text === 'odd') return (index) => index % 2 === 1;
  if (text === 'even') return (index) => index % 2 === 0;
  const found = /^(?:([+-]?\d{0,6})n\s*(?:([+-])\s*(\d{1,6}))?|([+-]?\d{1,6}))$/.exec(text);
  if (!found) return undefined;
  const [, step, sign, offset = '0', fixed] = found;
  if (fixed !== undefined) return (index) => index === Number(fixed);
  const every = step === '' || step === '+' ? 1 : step === '-' ? -1 : Number(step);
  const from = sign === '-' ? -Number(offset) : Number(offset);
  if (every === 0) return (index) => index === from;
  return (index) => (index - from) % every === 0 && (index - from) / every >= 0;
}
