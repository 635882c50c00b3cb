/** What a reader sees of a part of a page. */
import { decodeHTML } from 'entities/decode';
import { createTagTable, type Tag } from './tags.ts';
import { createWalker } from './walk-html.ts';

/** The inside of an element, by its places in the text. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly tag: Tag;
}

/** Its text and that of all in it, without scripts and styles; a line break counts as a space. Not folded yet. */
export function textOf(html: string, { start, end, tag }: Span): string {
  if (tag.raw !== undefined)
    return tag.raw === 'coded' ? decode(html.slice(start, end)) : html.slice(start, end);
  const text = html.slice(start, end);
  if (!text.includes('<')) return decode(text);
  return readInner(text);
}

const readInner = createInnerReader();

/** One for all texts: what it reads with is made once. */
function createInnerReader(): (inner: string) => string {
  let html = '';
  let text = '';
  const walk = createWalker(createTagTable(), {
    open({ name }) {
      if (name === 'br') text += '\n';
    },
    close: nothing,
    text(from, to, inside) {
      if (inside?.raw === 'hidden') return;
      const part = html.slice(from, to);
      text += inside?.raw === 'plain' ? part : decode(part);
    },
  });
  return (inner) => {
    html = inner;
    text = '';
    try {
      walk(inner);
      return text;
    } finally {
      html = text = '';
    }
  };
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
