/** The attributes of the tag that is being read: places in the text, which become strings only if somebody asks. */
import { decodeHTMLAttribute } from 'entities/decode';
import { equalsFolded } from './tags.ts';

/** Of one tag; what comes after them is skipped. */
export const ATTRIBUTES_MAX = 100;

export interface Attributes {
  html: string;
  count: number;
  /** Four places each: of the name its start and end, of the value its start and end. */
  readonly spans: Int32Array;
}

export function createAttributes(): Attributes {
  return { html: '', count: 0, spans: new Int32Array(ATTRIBUTES_MAX * 4) };
}

/** The first of that name, which is in lower case; -1: there is none. */
export function findAttribute({ html, count, spans }: Attributes, name: string): number {
  for (let index = 0; index < count; index += 1) {
    if (equalsFolded(html, spans[index * 4] ?? 0, spans[index * 4 + 1] ?? 0, name)) return index;
  }
  return -1;
}

export function attributeValue({ html, spans }: Attributes, index: number): string {
  const text = html.slice(spans[index * 4 + 2], spans[index * 4 + 3]);
  return text.includes('&') ? decodeHTMLAttribute(text) : text;
}

export function readAttribute(attributes: Attributes, name: string): string | undefined {
  const index = findAttribute(attributes, name);
  return index === -1 ? undefined : attributeValue(attributes, index);
}

const isSpace = (code: number): boolean =>
  code === 32 || code === 10 || code === 9 || code === 13 || code === 12;

/** Reads from behind a tag's name up to its `>`. Answers the place behind it, negative if the tag ends in `/>`; 0: no end. */
export function scanAttributes(attributes: Attributes, from: number): number {
  const { html, spans } = attributes;
  const { length } = html;
  let at = from;
  let count = 0;
  let slash = false;
  attributes.count = 0;
  while (at < length) {
    const code = html.charCodeAt(at);
    if (code === 62) {
      attributes.count = count;
      return slash ? -at - 1 : at + 1;
    }
    if (code === 47) {
      slash = true;
      at += 1;
      continue;
    }
    if (isSpace(code)) {
      at += 1;
      continue;
    }
    slash = false;
    const nameStart = at;
    at += 1;
    while (at < length) {
      const next = html.charCodeAt(at);
      if (next === 61 || next === 62 || next === 47 || isSpace(next)) break;
      at += 1;
    }
    const nameEnd = at;
    while (isSpace(html.charCodeAt(at))) at += 1;
    let valueStart = at;
    let valueEnd = at;
    if (html.charCodeAt(at) === 61) {
      at += 1;
      while (isSpace(html.charCodeAt(at))) at += 1;
      const quote = html.charCodeAt(at);
      if (quote === 34 || quote === 39) {
        valueStart = at + 1;
        valueEnd = html.indexOf(quote === 34 ? '"' : "'", valueStart);
        if (valueEnd === -1) return 0;
        at = valueEnd + 1;
      } else {
        valueStart = at;
        while (at < length && html.charCodeAt(at) !== 62 && !isSpace(html.charCodeAt(at))) at += 1;
        valueEnd = at;
      }
    }
    if (count < ATTRIBUTES_MAX) {
      spans[count * 4] = nameStart;
      spans[count * 4 + 1] = nameEnd;
      spans[count * 4 + 2] = valueStart;
      spans[count * 4 + 3] = valueEnd;
      count += 1;
    }
  }
  return 0;
}
