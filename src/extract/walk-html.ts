/**
 * Reads HTML from front to back and tells which elements open and close. Nothing is kept but the names of the elements
 * that are open, so a page costs what its text costs. Anything at all is a page.
 */
import { createAttributes, scanAttributes, type Attributes } from './attributes.ts';
import { HTML_MAX_CHARACTERS, tooMuch } from './limits.ts';
import { createTag, equalsFolded, hashStep, type Tag, type TagTable } from './tags.ts';
import { createTree } from './tree.ts';

export interface HtmlVisitor {
  /** The attributes can be read only now. `contentStart` is the place behind the tag. */
  open(tag: Tag, attributes: Attributes, contentStart: number): void;
  /** Of the innermost open element; `contentEnd` is the place before the tag that ends it. */
  close(contentEnd: number): void;
  /** `inside`: the element of raw text that it is in. */
  text?(start: number, end: number, inside: Tag | undefined): void;
}

/** For one page after the other: what it needs is made once. A visitor must not walk another page while it is told of one. */
export function createWalker(tags: TagTable, visitor: HtmlVisitor): (html: string) => void {
  const attributes = createAttributes();
  const tree = createTree(tags, attributes, visitor);
  const others = new Map<string, Tag>();
  const wantsText = visitor.text !== undefined;
  let html = '';
  let length = 0;
  let textStart = 0;
  let nameHash = 0;

  return (page) => {
    if (page.length > HTML_MAX_CHARACTERS) throw tooMuch(`${page.length} characters`);
    attributes.html = html = page;
    length = page.length;
    textStart = 0;
    tree.begin();
    try {
      walk();
    } finally {
      // No page is kept for the sake of the next one, nor the names that it made up.
      attributes.html = html = '';
      others.clear();
    }
  };

  function walk(): void {
    let at = 0;
    while (at < length) {
      const start = html.indexOf('<', at);
      if (start === -1) break;
      const code = html.charCodeAt(start + 1);
      const letter = code | 0x20;
      if (letter >= 97 && letter <= 122) {
        emitText(start);
        at = readOpening(start);
      } else at = code === 47 ? readClosing(start) : readOther(start, code);
    }
    emitText(length);
    tree.end(length);
  }

  function readOpening(start: number): number {
    const end = nameEnd(start + 1);
    const tag = tagAt(start + 1, end);
    const scanned = scanAttributes(attributes, end);
    if (scanned === 0) return (textStart = length);
    const after = Math.abs(scanned);
    textStart = after;
    // Asked before the element is open: it may change the answer.
    const isRaw = tag.raw !== undefined && !tree.isForeign();
    tree.open(tag, start, after, scanned < 0);
    return isRaw ? readRaw(tag, after) : after;
  }

  /** Up to the end tag, or to the end of the page. */
  function readRaw(tag: Tag, from: number): number {
    let end = tag.name === 'plaintext' ? -1 : html.indexOf('</', from);
    while (end !== -1 && !isEndTag(tag, end)) end = html.indexOf('</', end + 2);
    if (end === -1) end = length;
    if (wantsText && end > from) visitor.text?.(from, end, tag);
    return (textStart = end);
  }

  function isEndTag({ name }: Tag, start: number): boolean {
    const end = start + 2 + name.length;
    return equalsFolded(html, start + 2, end, name) && end < length && nameEnd(end) === end;
  }

  function readOther(start: number, code: number): number {
    if (code === 33) return readDeclaration(start);
    if (code === 63) return skipTo(start, '>', start + 2);
    return start + 1; // a < of the text
  }

  function readClosing(start: number): number {
    const code = html.charCodeAt(start + 2);
    const letter = code | 0x20;
    if (start + 2 >= length) return length;
    if (letter < 97 || letter > 122) return skipTo(start, '>', start + 2);
    emitText(start);
    const end = nameEnd(start + 2);
    if (end < length) tree.close(tagAt(start + 2, end), start);
    if (html.charCodeAt(end) === 62) return (textStart = end + 1);
    const bracket = html.indexOf('>', end);
    return (textStart = bracket === -1 ? length : bracket + 1);
  }

  function readDeclaration(start: number): number {
    if (html.startsWith('--', start + 2)) return readComment(start);
    if (!html.startsWith('[CDATA[', start + 2)) return skipTo(start, '>', start + 2);
    const end = html.indexOf(']]>', start + 9);
    emitText(start);
    if (tree.isForeign()) {
      const to = end === -1 ? length : end;
      if (wantsText && to > start + 9) visitor.text?.(start + 9, to, undefined);
    }
    return (textStart = end === -1 ? length : end + 3);
  }

  function readComment(start: number): number {
    const from = start + 4;
    if (html.startsWith('>', from)) return skipTo(start, '>', from);
    if (html.startsWith('->', from)) return skipTo(start, '>', from);
    let dashes = html.indexOf('--', from);
    while (dashes !== -1) {
      let end = dashes + 2;
      while (html.charCodeAt(end) === 45) end += 1;
      if (html.charCodeAt(end) === 33) end += 1;
      if (html.charCodeAt(end) === 62) return skipTo(start, '>', end);
      dashes = html.indexOf('--', end);
    }
    emitText(start);
    return (textStart = length);
  }

  /** Nothing up to there is text. */
  function skipTo(start: number, what: string, from: number): number {
    emitText(start);
    const end = html.indexOf(what, from);
    return (textStart = end === -1 ? length : end + 1);
  }

  function emitText(end: number): void {
    if (wantsText && end > textStart) visitor.text?.(textStart, end, undefined);
    textStart = end;
  }

  /** Leaves the hash of the name behind. */
  function nameEnd(from: number): number {
    const text = html;
    let end = from;
    let hash = 0;
    while (end < length) {
      const code = text.charCodeAt(end);
      if (code === 62 || code === 47 || code === 32 || (code >= 9 && code <= 13 && code !== 11)) break;
      hash = hashStep(hash, code);
      end += 1;
    }
    nameHash = hash;
    return end;
  }

  function tagAt(start: number, end: number): Tag {
    return tags.find(html, start, end, nameHash) ?? otherTag(html.slice(start, end).toLowerCase());
  }

  function otherTag(name: string): Tag {
    let tag = others.get(name);
    if (!tag) others.set(name, (tag = createTag(name, -1)));
    return tag;
  }
}
