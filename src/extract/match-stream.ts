/**
 * Finds everything that a plan wants in one pass over the page, without building a tree. What it keeps while it reads
 * is made once and used again for every page: a page of a hundred values would otherwise leave more garbage than it has
 * characters.
 */
import { attributeValue, findAttribute, readAttribute, type Attributes } from './attributes.ts';
import { createWordIndex, hasWord } from './class-words.ts';
import { DEPTH_MAX, tooMuch, VALUES_MAX } from './limits.ts';
import { createFound, type ElementSlot, type FoundItem, type Matcher, type Raw } from './match-plan.ts';
import type { Part, StreamProgram } from './stream-program.ts';
import type { Tag } from './tags.ts';
import { createWalker } from './walk-html.ts';

/** Ends when its element closes. */
interface OpenSpan {
  readonly start: number;
  end: number;
  readonly tag: Tag;
}

/** What must be done when an element closes. */
interface Frame {
  span: OpenSpan | undefined;
  /** Plans of which it opened items. */
  readonly items: number[];
  children: number;
}

/** A part with the places of its bits: that of the part before it, and its own. */
interface Trial extends Part {
  /** Where the part before it must be found; undefined: there is none. */
  readonly source: Int32Array | undefined;
  readonly neededWord: number;
  readonly neededBit: number;
  readonly ownWord: number;
  readonly ownBit: number;
}

export function createStreamMatcher(program: StreamProgram): Matcher {
  const { tags, goals, plans } = program;
  const words = Math.max(1, Math.ceil(program.partCount / 32));
  const rows = (DEPTH_MAX + 2) * words;
  // By depth of the parent: what it completes, what it and those around it do, what its last child did, what all did.
  const own = new Int32Array(rows);
  const around = new Int32Array(rows);
  const last = new Int32Array(rows);
  const before = new Int32Array(rows);
  const sources = { root: undefined, inside: around, child: own, next: last, after: before } as const;
  const byTag = program.byTag.map((parts) => parts?.map(trialOf));
  const always = program.always.map(trialOf);
  const byWord = new Map([...program.byWord].map(([word, parts]) => [word, parts.map(trialOf)]));
  const partsOf = createWordIndex(byWord);
  const rootSlots = plans[0]?.slots ?? [];
  const walk = createWalker(tags, { open, close });

  const frames: Frame[] = [createFrame()];
  const openItems = plans.map((): FoundItem[] => []);
  const reached = new Int32Array(goals.length); // the element that reached a goal last
  const hits = new Int32Array(goals.length);
  let hitCount = 0;
  let depth = 0;
  let element = 0;
  let span: OpenSpan | undefined; // of the element that has just opened

  return (html) => {
    const root = begin();
    try {
      walk(html);
    } finally {
      for (const items of openItems) items.length = 0;
    }
    for (let index = 0; index < rootSlots.length; index += 1) {
      const slot = rootSlots[index];
      if (slot && !slot.selector) add(root, index, slot, html);
    }
    return root;
  };

  function trialOf(part: Part): Trial {
    const needed = part.number - 1;
    return {
      ...part,
      source: sources[part.relation],
      neededWord: needed >> 5,
      neededBit: 1 << (needed & 31),
      ownWord: part.number >> 5,
      ownBit: 1 << (part.number & 31),
    };
  }

  /** Also after a page that was left in the middle of it. */
  function begin(): FoundItem {
    const root = createFound(plans[0] ?? { slots: [], lists: [] });
    openItems[0] = [root];
    for (const frame of frames) {
      frame.span = undefined;
      frame.items.length = 0;
      frame.children = 0;
    }
    reached.fill(0);
    hitCount = depth = element = 0;
    for (const bits of [own, around, last, before]) bits.fill(0, 0, words);
    return root;
  }

  function open(tag: Tag, attributes: Attributes, contentStart: number): void {
    const parent = depth * words;
    const row = parent + words;
    const outer = frames[depth];
    if (outer) outer.children += 1;
    depth += 1;
    element += 1;
    const frame = (frames[depth] ??= createFrame());
    frame.children = 0;
    for (let word = 0; word < words; word += 1) own[row + word] = last[row + word] = before[row + word] = 0;

    const named = tag.id === -1 ? undefined : byTag[tag.id];
    if (named) tryParts(named, attributes);
    if (byWord.size > 0 && attributes.count > 0) tryClasses(attributes);
    if (always.length > 0) tryParts(always, attributes);
    for (let word = 0; word < words; word += 1) {
      const mine = own[row + word] ?? 0;
      around[row + word] = (around[parent + word] ?? 0) | mine;
      last[parent + word] = mine;
      before[parent + word] = (before[parent + word] ?? 0) | mine;
    }
    if (hitCount > 0) reach({ tag, attributes, contentStart });
  }

  function tryClasses(attributes: Attributes): void {
    const place = findAttribute(attributes, 'class');
    if (place === -1) return;
    const parts = partsOf(attributeValue(attributes, place));
    if (parts.length > 0) tryParts(parts, attributes);
  }

  function tryParts(parts: readonly Trial[], attributes: Attributes): void {
    const parent = (depth - 1) * words;
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index];
      if (!part) continue;
      const { source, goal } = part;
      if (source && ((source[parent + part.neededWord] ?? 0) & part.neededBit) === 0) continue;
      if (!fits(part, attributes)) continue;
      const at = parent + words + part.ownWord;
      own[at] = (own[at] ?? 0) | part.ownBit;
      // Two alternatives of one selector are one hit.
      if (goal === -1 || reached[goal] === element) continue;
      reached[goal] = element;
      addHit(goal);
    }
  }

  /** In the order of the goals. */
  function addHit(goal: number): void {
    let at = hitCount;
    for (; at > 0 && (hits[at - 1] ?? 0) > goal; at -= 1) hits[at] = hits[at - 1] ?? 0;
    hits[at] = goal;
    hitCount += 1;
  }

  function fits({ attributes: tests, place }: Trial, attributes: Attributes): boolean {
    for (let index = 0; index < tests.length; index += 1) {
      const test = tests[index];
      if (!test) continue;
      const found = findAttribute(attributes, test.name);
      if (found === -1) return false;
      if (test.word !== undefined && !hasWord(attributes, found, test.word)) return false;
      if (test.test !== undefined && !test.test(attributeValue(attributes, found))) return false;
    }
    return place === undefined || place(frames[depth - 1]?.children ?? 0);
  }

  /** Goals, by the element that has just opened. */
  function reach(opened: Opened): void {
    span = undefined;
    for (let index = 0; index < hitCount; index += 1) {
      const goal = goals[hits[index] ?? 0];
      const items = goal && openItems[goal.owner];
      if (!items) continue;
      // An item that opens here is behind those that were open before.
      for (let at = 0, count = items.length; at < count; at += 1) {
        const item = items[at];
        if (!item) continue;
        if (goal.slot) take(item, goal.index, goal.slot, opened);
        else openItem(item, goal.index, goal.opens, opened);
      }
    }
    hitCount = 0;
  }

  function take(item: FoundItem, index: number, slot: ElementSlot, opened: Opened): void {
    if (!slot.all && item.values[index] !== undefined) return;
    const { attr } = slot;
    if (attr === undefined) add(item, index, slot, (span ??= startSpan(opened)));
    else add(item, index, slot, readAttribute(opened.attributes, attr) ?? null);
  }

  function startSpan({ tag, contentStart }: Opened): OpenSpan {
    const started = { start: contentStart, end: contentStart, tag };
    const frame = frames[depth];
    if (frame) frame.span = started;
    return started;
  }

  function openItem(parentItem: FoundItem, index: number, opens: number, opened: Opened): void {
    const plan = plans[opens];
    const list = parentItem.lists[index];
    if (!plan || !list) return;
    if (list.length >= VALUES_MAX) throw tooMuch(`more than ${VALUES_MAX} items in one list`);
    const item = createFound(plan);
    list.push(item);
    openItems[opens]?.push(item);
    frames[depth]?.items.push(opens);
    for (let place = 0; place < plan.slots.length; place += 1) {
      const slot = plan.slots[place];
      if (slot && !slot.selector) take(item, place, slot, opened);
    }
  }

  function close(contentEnd: number): void {
    const frame = frames[depth];
    depth -= 1;
    if (!frame) return;
    if (frame.span) {
      frame.span.end = contentEnd;
      frame.span = undefined;
    }
    for (let plan = frame.items.pop(); plan !== undefined; plan = frame.items.pop()) openItems[plan]?.pop();
  }
}

interface Opened {
  readonly tag: Tag;
  readonly attributes: Attributes;
  readonly contentStart: number;
}

function createFrame(): Frame {
  return { span: undefined, items: [], children: 0 };
}

function add({ values }: FoundItem, index: number, { all }: ElementSlot, value: Raw): void {
  const known = values[index];
  if (!all) values[index] = value;
  else if (!Array.isArray(known)) values[index] = [value];
  else if (known.length < VALUES_MAX) known.push(value);
  else throw tooMuch(`more than ${VALUES_MAX} values of one field`);
}
