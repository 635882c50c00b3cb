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
  /** `start` and `after`: the places before and behind the tag. */
  open(tag: Tag, tagEnds: { start: number; after: number; selfClosing: boolean }): void;
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
  let dropped = 0; // open elements that are too deep to be kept
  let isDeep = false; // the last of those is told, and not closed yet
  let paragraphs = 0;
  let hasForm = false; // until its end tag, wherever that is

  return { open, close, end, isForeign: () => foreign.at(-1) === true };

  function open(
    tag: Tag,
    { start, after, selfClosing }: { start: number; after: number; selfClosing: boolean },
  ): void {
    endDeep(start);
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
    if (name === 'li') closeNearest((each) => each.name === 'li', is.SPECIAL, start, is.SOFT);
    else if (name === 'dd' || name === 'dt')
      closeNearest((each) => each.name === 'dd' || each.name === 'dt', is.SPECIAL, start, is.SOFT);
    if (paragraphs > 0 && (flags & is.ENDS_PARAGRAPH) !== 0)
      closeNearest((each) => each.name === 'p', is.SCOPE | is.BUTTON, start);
    if ((flags & is.HEADING) !== 0 && ((stack.at(-1)?.flags ?? 0) & is.HEADING) !== 0) pop(start);
    if ((flags & is.TABLE_PART) !== 0 && name !== 'table') makeTableRoom(tag, start);
    if (name === 'a' && stack.includes(tag)) closeFormatting(tag, start);
    if (name === 'button') closeNearest((each) => each === tag, is.SCOPE, start);
    if (name === 'form') return !hasForm && (hasForm = true);
    return !((name === 'body' || name === 'html') && stack.includes(tag));
  }

  function makeTableRoom({ flags, name }: Tag, start: number): void {
    const inTable = nearest((each) => each.name === 'table', is.TABLE) !== -1;
    const isCell = (flags & is.CELL) !== 0;
    if (!inTable) {
      // Rows without their table, as a part of a page has them.
      if (isCell || name === 'tr') while (((stack.at(-1)?.flags ?? 0) & is.CELL) !== 0) pop(start);
      if (name === 'tr') popIf('tr', start);
      return;
    }
    const stops = (each: Tag): boolean =>
      each.name === 'table' ||
      ((isCell || name === 'tr') && (each.flags & is.ROWS) !== 0) ||
      (isCell && each.name === 'tr');
    while (stack.length > 0 && !stops(stack.at(-1) ?? tags.named('table'))) pop(start);
    if ((isCell || name === 'tr') && stack.at(-1)?.name === 'table') begin('tbody', start);
    if (isCell && stack.at(-1)?.name !== 'tr') begin('tr', start);
  }

  function close(tag: Tag, start: number): void {
    endDeep(start);
    if (dropped > 0 && !tag.isVoid) {
      dropped -= 1;
      return;
    }
    const { flags, name } = tag;
    const itself = (each: Tag): boolean => each === tag;
    if (name === 'br') {
      visitor.open(tag, none, start);
      visitor.close(start);
    } else if (name === 'p') {
      if (paragraphs === 0 || !closeNearest(itself, is.SCOPE | is.BUTTON, start)) {
        begin('p', start);
        pop(start);
      }
    } else if (tag.isVoid || name === 'body' || name === 'html') return;
    else if ((flags & is.HEADING) !== 0)
      closeNearest((each) => (each.flags & is.HEADING) !== 0, is.SCOPE, start);
    else if ((flags & is.TABLE_PART) !== 0) closeNearest(itself, is.TABLE, start);
    else if (name === 'li') closeNearest(itself, is.SCOPE | is.LIST, start);
    else if ((flags & is.FORMATTING) !== 0) closeFormatting(tag, start);
    else if (name === 'form') closeForm(tag, start);
    else closeNearest(itself, (flags & is.SPECIAL) === 0 ? is.SPECIAL : is.SCOPE, start);
  }

  /** Ends alone: what is still open in it stays open. */
  function closeForm(tag: Tag, start: number): void {
    const place = hasForm ? nearest((each) => each === tag, is.SCOPE) : -1;
    hasForm = false;
    if (place === stack.length - 1 && place !== -1) pop(start);
    else if (place !== -1) doomed[place] = true;
  }

  /** With a block open in it, it stays as long as the block does. */
  function closeFormatting(tag: Tag, start: number): void {
    const place = nearest((each) => each === tag, is.SCOPE);
    if (place === -1) return;
    if (stack.slice(place).some((each) => (each.flags & is.SPECIAL) !== 0)) doomed[place] = true;
    else while (stack.length > place) pop(start);
  }

  /** The innermost open one that is wanted, unless one of the `barrier` groups is open in it. */
  function nearest(isWanted: (tag: Tag) => boolean, barrier: number, except = 0): number {
    for (let place = stack.length - 1; place >= 0; place -= 1) {
      const each = stack[place];
      if (each === undefined) return -1;
      if (isWanted(each)) return doomed[place] === true ? -1 : place;
      if ((each.flags & barrier) !== 0 && (each.flags & except) === 0) return -1;
    }
    return -1;
  }

  function closeNearest(
    isWanted: (tag: Tag) => boolean,
    barrier: number,
    start: number,
    except = 0,
  ): boolean {
    const place = nearest(isWanted, barrier, except);
    if (place === -1) return false;
    while (stack.length > place) pop(start);
    return true;
  }

  function begin(name: string, start: number): void {
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
    if (tag.name === 'p') paragraphs += 1;
    if (tag.foreign !== undefined) foreign.push(tag.foreign);
  }

  /** It has text, but no elements: those become its neighbours. */
  function endDeep(start: number): void {
    if (!isDeep) return;
    isDeep = false;
    visitor.close(start);
  }

  function pop(start: number): void {
    const tag = stack.pop();
    if (tag === undefined) return;
    if (tag.name === 'p') paragraphs -= 1;
    if (tag.foreign !== undefined) foreign.pop();
    visitor.close(start);
    if (doomed[stack.length - 1] === true) pop(start);
  }

  function popIf(name: string, start: number): void {
    if (stack.at(-1)?.name === name) pop(start);
  }

  function end(length: number): void {
    endDeep(length);
    while (stack.length > 0) pop(length);
  }
}
