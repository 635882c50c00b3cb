/** Finds everything that a plan wants in one pass over the page, without building a tree. */
import { attributeValue, findAttribute, readAttribute, type Attributes } from './attributes.ts';
import { createWordIndex, hasWord } from './class-words.ts';
import { DEPTH_MAX, tooMuch, VALUES_MAX } from './limits.ts';
import { createFound, type ElementSlot, type FoundItem, type Matcher } from './match-plan.ts';
import type { Part, StreamProgram } from './stream-program.ts';
import type { Tag } from './tags.ts';
import { walkHtml } from './walk-html.ts';

interface OpenSpan {
  readonly start: number;
  end: number;
  readonly tag: Tag;
}

interface Opened {
  readonly tag: Tag;
  readonly attributes: Attributes;
  readonly contentStart: number;
  span: OpenSpan | undefined;
}

/** What must be done when an element closes. */
interface Frame {
  spans: OpenSpan[] | undefined;
  /** Plans of which it opened items. */
  items: number[] | undefined;
  children: number;
}

export function createStreamMatcher(program: StreamProgram): Matcher {
  const { tags, byTag, byWord, always, goals, plans } = program;
  const words = Math.max(1, Math.ceil(program.partCount / 32));
  const rows = (DEPTH_MAX + 2) * words;
  // By depth of the parent: what it completes, what it and those around it do, what its last child did, what all did.
  const own = new Int32Array(rows);
  const around = new Int32Array(rows);
  const last = new Int32Array(rows);
  const before = new Int32Array(rows);
  const SOURCES = { root: undefined, inside: around, child: own, next: last, after: before } as const;
  const byClass = byWord.size > 0;
  const partsOf = createWordIndex(byWord);

  return (html) => match(html);

  function match(html: string): FoundItem {
    const found = plans.map((): FoundItem[] => []); // open items of each plan
    const root = createFound(plans[0] ?? { slots: [], lists: [] });
    found[0] = [root];
    const frames: Frame[] = [{ spans: undefined, items: undefined, children: 0 }];
    const reached = new Int32Array(goals.length); // the element that reached a goal last
    let depth = 0;
    let element = 0;
    let hits: number[] = [];
    own.fill(0, 0, words);
    around.fill(0, 0, words);
    last.fill(0, 0, words);
    before.fill(0, 0, words);

    walkHtml(html, tags, { open, close });
    for (const [index, slot] of (plans[0]?.slots ?? []).entries()) {
      if (!slot.selector) root.values[index]?.push(html);
    }
    return root;

    function open(tag: Tag, attributes: Attributes, contentStart: number): void {
      depth += 1;
      element += 1;
      const row = depth * words;
      const parent = row - words;
      for (let word = 0; word < words; word += 1) own[row + word] = last[row + word] = before[row + word] = 0;
      const outer = frames[depth - 1];
      if (outer) outer.children += 1;
      const frame = (frames[depth] ??= { spans: undefined, items: undefined, children: 0 });
      frame.children = 0;

      const named = tag.id === -1 ? undefined : byTag[tag.id];
      if (named) tryParts(named, attributes);
      if (byClass && attributes.count > 0) tryClasses(attributes);
      if (always.length > 0) tryParts(always, attributes);
      for (let word = 0; word < words; word += 1) {
        const mine = own[row + word] ?? 0;
        around[row + word] = (around[parent + word] ?? 0) | mine;
        last[parent + word] = mine;
        before[parent + word] = (before[parent + word] ?? 0) | mine;
      }
      if (hits.length > 0) reach({ tag, attributes, contentStart, span: undefined });
    }

    function tryClasses(attributes: Attributes): void {
      const place = findAttribute(attributes, 'class');
      if (place === -1) return;
      const parts = partsOf(attributeValue(attributes, place));
      if (parts.length > 0) tryParts(parts, attributes);
    }

    function tryParts(parts: readonly Part[], attributes: Attributes): void {
      for (const part of parts) {
        const source = SOURCES[part.relation];
        if (source) {
          const needed = part.number - 1;
          const state = source[(depth - 1) * words + (needed >> 5)] ?? 0;
          if ((state & (1 << (needed & 31))) === 0) continue;
        }
        if (!fits(part, attributes)) continue;
        const at = depth * words + (part.number >> 5);
        own[at] = (own[at] ?? 0) | (1 << (part.number & 31));
        // Two alternatives of one selector are one hit.
        if (part.goal !== -1 && reached[part.goal] !== element) {
          reached[part.goal] = element;
          hits.push(part.goal);
        }
      }
    }

    function fits({ attributes: tests, place }: Part, attributes: Attributes): boolean {
      for (const { name, word, test } of tests) {
        const index = findAttribute(attributes, name);
        if (index === -1) return false;
        if (word !== undefined && !hasWord(attributes, index, word)) return false;
        if (test !== undefined && !test(attributeValue(attributes, index))) return false;
      }
      return place === undefined || place(frames[depth - 1]?.children ?? 0);
    }

    /** Of the element that has just opened. */
    function reach(opened: Opened): void {
      const reachedNow = hits.length === 1 ? hits : hits.sort((a, b) => a - b);
      hits = [];
      for (const number of reachedNow) {
        const goal = goals[number];
        if (!goal) continue;
        for (const item of found[goal.owner] ?? []) {
          if (goal.slot) take(opened, item, goal.index, goal.slot);
          else openItem(opened, item, goal.index, goal.opens);
        }
      }
    }

    function take(opened: Opened, item: FoundItem, index: number, slot: ElementSlot): void {
      const values = item.values[index];
      if (!values || (!slot.all && values.length > 0)) return;
      if (values.length >= VALUES_MAX) throw tooMuch(`more than ${VALUES_MAX} values of one field`);
      if (slot.attr === undefined) values.push((opened.span ??= startSpan(opened)));
      else values.push(readAttribute(opened.attributes, slot.attr));
    }

    function startSpan({ tag, contentStart }: Opened): OpenSpan {
      const started = { start: contentStart, end: contentStart, tag };
      const frame = frames[depth];
      if (frame) (frame.spans ??= []).push(started);
      return started;
    }

    function openItem(opened: Opened, parentItem: FoundItem, index: number, opens: number): void {
      const plan = plans[opens];
      const list = parentItem.lists[index];
      if (!plan || !list) return;
      if (list.length >= VALUES_MAX) throw tooMuch(`more than ${VALUES_MAX} items in one list`);
      const item = createFound(plan);
      list.push(item);
      found[opens]?.push(item);
      const frame = frames[depth];
      if (frame) (frame.items ??= []).push(opens);
      for (const [place, slot] of plan.slots.entries()) if (!slot.selector) take(opened, item, place, slot);
    }

    function close(contentEnd: number): void {
      const frame = frames[depth];
      depth -= 1;
      if (frame?.spans) {
        for (const span of frame.spans) span.end = contentEnd;
        frame.spans = undefined;
      }
      if (frame?.items) {
        for (const plan of frame.items) found[plan]?.pop();
        frame.items = undefined;
      }
    }
  }
}
