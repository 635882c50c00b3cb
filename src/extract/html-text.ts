/** What a reader sees of a part of a page. */
import { decodeHTML } from 'entities/decode';
import { createTagTable, type Tag } from './tags.ts';
import { walkHtml } from './walk-html.ts';

/** The inside of an element, by its places in the text. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly tag: Tag;
}

const TAGS = createTagTable();

/** Its text and that of all in it, without scripts and styles; a line break counts as a space. Not folded yet. */
export function textOf(html: string, { start, end, tag }: Span): string {
  if (tag.raw !== undefined)
    return tag.raw === 'coded' ? decode(html.slice(start, end)) : html.slice(start, end);
  const inner = html.slice(start, end);
  if (!inner.includes('<')) return decode(inner);
  const parts: string[] = [];
  walkHtml(inner, TAGS, {
    open(opened) {
      if (opened.name === 'br') parts.push('\n');
    },
    close: nothing,
    text(from, to, inside) {
      if (inside?.raw === 'hidden') return;
      parts.push(inside?.raw === 'plain' ? inner.slice(from, to) : decode(inner.slice(from, to)));
    },
  });
  return parts.join('');
}

const UNEVEN = /[^\S ]| {2}/;

/** Every run of white space becomes one space, and none is left at the ends. */
export function foldSpace(text: string): string {
  const trimmed = text.trim();
  return UNEVEN.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed;
}

function decode(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text;
}

function nothing(): void {
  // Where an element ends does not matter to its text.
}
