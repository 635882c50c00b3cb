/**
 * Which elements are open. Tags come in any order; what they mean follows the standard: a new list item ends the one
 * before it with all that is left open in it, a stray end tag in a table cell ends nothing outside, rows and bodies of
 * tables are there even if nobody wrote them. Where the standard moves elements to another place, this does not.
 */
import type { Attributes } from './attributes.ts';
import * as is from './html-rules.ts';
import { DEPTH_MAX } from './limits.ts';
import type { Tag, TagTable } from './tags.ts';
import type { HtmlVisitor } from './walk-html.ts';

export interface Tree {
  /** Another page. */
  begin(): void;
  /** `start` and `after`: the places before and behind the tag. Not in an object: there is one for every tag of a page. */
  open(tag: Tag, start: number, after: number, selfClosing: boolean): void;
  close(tag: Tag, start: number): void;
  end(length: number): void;
  isForeign(): boolean;
}

export function createTree(tags: TagTable, attributes: Attributes, visitor: HtmlVisitor): Tree {
  const stack: Tag[] = [];
  /** Closed while something else was open in it: ends with that. */
  const doomed: boolean[] = [];
  const foreign: boolean[] = [];
  const none: Attributes = { ...attributes, count: 0 };
  const [li, dd, dt, p, table] = ['li', 'dd', 'dt', 'p', 'table'].map(tags.named) as [
    Tag,
    Tag,
    Tag,
    Tag,
    Tag,
  ];
  let dropped = 0; // open elements that are too deep to be kept
  let isDeep = false; // the last of those is told, and not closed yet
  let paragraphs = 0;
  let hasForm = false; // until its end tag, wherever that is

  return { begin, open, close, end, isForeign: () => foreign.at(-1) === true };

  function begin(): void {
    stack.length = doomed.length = foreign.length = 0;
    dropped = paragraphs = 0;
    isDeep = hasForm = false;
  }

  function open(tag: Tag, start: number, after: number, selfClosing: boolean): void {
    if (isDeep) endDeep(start);
    if (!makeRoom(tag, start)) return;
    visitor.open(tag, attributes, after);
    if (tag.isVoid || (selfClosing && foreign.at(-1) === true)) visitor.close(after);
    else push(tag);
  }

  /** Ends what cannot go on when this tag begins, and begins what it must be in. False: it is no element at all. */
  function makeRoom(tag: Tag, start: number): boolean {
    const { flags, name } = tag;
    if ((flags & is.HEAD) === 0 && stack.at(-1)?.name === 'head') pop(start);
    if (flags === 0) {
      if (name === 'option' || name === 'optgroup') popIf('option', start);
      if (name === 'optgroup') popIf('optgroup', start);
      return true;
    }
    if (tag === li) closeNearest(li, li, is.SPECIAL, is.SOFT, start);
    else if (tag === dd || tag === dt) closeNearest(dd, dt, is.SPECIAL, is.SOFT, start);
    if (paragraphs > 0 && (flags & is.ENDS_PARAGRAPH) !== 0)
      closeNearest(p, p, is.SCOPE | is.BUTTON, 0, start);
    if ((flags & is.HEADING) !== 0 && (innermostFlags() & is.HEADING) !== 0) pop(start);
    if ((flags & is.TABLE_PART) !== 0 && tag !== table) makeTableRoom(tag, start);
    if (name === 'a' && stack.includes(tag)) closeFormatting(tag, start);
    if (name === 'button') closeNearest(tag, tag, is.SCOPE, 0, start);
    if (name === 'form') return !hasForm && (hasForm = true);
    return !((name === 'body' || name === 'html') && stack.includes(tag));
  }

  function makeTableRoom({ flags, name }: Tag, start: number): void {
    const isCell = (flags & is.CELL) !== 0;
    const isRow = name === 'tr';
    if (nearest(table, table, is.TABLE, 0) === -1) {
      // Rows without their table, as a part of a page has them.
      if (isCell || isRow) while ((innermostFlags() & is.CELL) !== 0) pop(start);
      if (isRow) popIf('tr', start);
      return;
    }
    while (stack.length > 0 && !endsTableRoom(isCell, isRow)) pop(start);
    if ((isCell || isRow) && stack.at(-1) === table) insert('tbody', start);
    if (isCell && stack.at(-1)?.name !== 'tr') insert('tr', start);
  }

  /** Whether the innermost one may hold a cell, a row or another part of a table. */
  function endsTableRoom(isCell: boolean, isRow: boolean): boolean {
    const innermost = stack.at(-1);
    if (innermost === undefined || innermost === table) return true;
    if ((isCell || isRow) && (innermost.flags & is.ROWS) !== 0) return true;
    return isCell && innermost.name === 'tr';
  }

  function close(tag: Tag, start: number): void {
    if (isDeep) endDeep(start);
    if (dropped > 0 && !tag.isVoid) {
      dropped -= 1;
      return;
    }
    const { flags, name } = tag;
    if (name === 'br') {
      visitor.open(tag, none, start);
      visitor.close(start);
    } else if (tag === p) {
      if (paragraphs === 0 || !closeNearest(p, p, is.SCOPE | is.BUTTON, 0, start)) {
        insert('p', start);
        pop(start);
      }
    } else if (tag.isVoid || name === 'body' || name === 'html') return;
    else if ((flags & is.HEADING) !== 0) closeHeading(start);
    else if ((flags & is.TABLE_PART) !== 0) closeNearest(tag, tag, is.TABLE, 0, start);
    else if (tag === li) closeNearest(li, li, is.SCOPE | is.LIST, 0, start);
    else if ((flags & is.FORMATTING) !== 0) closeFormatting(tag, start);
    else if (name === 'form') closeForm(tag, start);
    else closeNearest(tag, tag, (flags & is.SPECIAL) === 0 ? is.SPECIAL : is.SCOPE, 0, start);
  }

  /** Of any level. */
  function closeHeading(start: number): void {
    for (let place = stack.length - 1; place >= 0; place -= 1) {
      const flags = stack[place]?.flags ?? 0;
      if ((flags & is.HEADING) !== 0) {
        if (doomed[place] !== true) popTo(place, start);
        return;
      }
      if ((flags & is.SCOPE) !== 0) return;
    }
  }

  /** Ends alone: what is still open in it stays open. */
  function closeForm(tag: Tag, start: number): void {
    const place = hasForm ? nearest(tag, tag, is.SCOPE, 0) : -1;
    hasForm = false;
    if (place === stack.length - 1 && place !== -1) pop(start);
    else if (place !== -1) doomed[place] = true;
  }

  /** With a block open in it, it stays as long as the block does. */
  function closeFormatting(tag: Tag, start: number): void {
    const place = nearest(tag, tag, is.SCOPE, 0);
    if (place === -1) return;
    for (let at = place; at < stack.length; at += 1)
      if (((stack[at]?.flags ?? 0) & is.SPECIAL) !== 0) {
        doomed[place] = true;
        return;
      }
    popTo(place, start);
  }

  /** The innermost open one of the two, unless one of the `barrier` groups is open in it. */
  function nearest(wanted: Tag, other: Tag, barrier: number, except: number): number {
    for (let place = stack.length - 1; place >= 0; place -= 1) {
      const each = stack[place];
      if (each === undefined) return -1;
      if (each === wanted || each === other) return doomed[place] === true ? -1 : place;
      if ((each.flags & barrier) !== 0 && (each.flags & except) === 0) return -1;
    }
    return -1;
  }

  function closeNearest(wanted: Tag, other: Tag, barrier: number, except: number, start: number): boolean {
    const place = nearest(wanted, other, barrier, except);
    if (place === -1) return false;
    popTo(place, start);
    return true;
  }

  function insert(name: string, start: number): void {
    const tag = tags.named(name);
    visitor.open(tag, none, start);
    push(tag);
  }

  function push(tag: Tag): void {
    if (stack.length >= DEPTH_MAX) {
      dropped += 1;
      isDeep = true;
      return;
    }
    doomed[stack.length] = false;
    stack.push(tag);
    if (tag === p) paragraphs += 1;
    if (tag.foreign !== undefined) foreign.push(tag.foreign);
  }

  /** It has text, but no elements: those become its neighbours. */
  function endDeep(start: number): void {
    isDeep = false;
    visitor.close(start);
  }

  function popTo(place: number, start: number): void {
    while (stack.length > place) pop(start);
  }

  function pop(start: number): void {
    const tag = stack.pop();
    if (tag === undefined) return;
    if (tag === p) paragraphs -= 1;
    if (tag.foreign !== undefined) foreign.pop();
    visitor.close(start);
    if (doomed[stack.length - 1] === true) pop(start);
  }

  function popIf(name: string, start: number): void {
    if (stack.at(-1)?.name === name) pop(start);
  }

  function innermostFlags(): number {
    return stack.at(-1)?.flags ?? 0;
  }

  function end(length: number): void {
    if (isDeep) endDeep(length);
    popTo(0, length);
  }
}
