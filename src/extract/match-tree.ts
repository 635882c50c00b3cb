/** Finds what a plan wants on the tree of a page: for selectors that one pass cannot answer. */
import { createSelecting, type Selecting } from './css.ts';
import { parseDocument, type ElementNode } from './document.ts';
import { tooMuch, VALUES_MAX } from './limits.ts';
import {
  allSelectors,
  createFound,
  type ElementSlot,
  type FoundItem,
  type MatchPlan,
  type Matcher,
  type Raw,
} from './match-plan.ts';

export function createTreeMatcher(plan: MatchPlan): Matcher {
  const selecting = createSelecting(allSelectors(plan));
  return (html) => {
    const document = parseDocument(html);
    const { all, first } = selecting(document);
    return find(plan, document.root);

    function find(wanted: MatchPlan, element: ElementNode): FoundItem {
      const found = createFound(wanted);
      for (const [index, slot] of wanted.slots.entries()) {
        const values = findValues(slot, element);
        found.values[index] = slot.all ? values : values[0];
      }
      for (const [index, list] of wanted.lists.entries()) {
        const elements = atMost(all(list.each, element), 'items in one list');
        const items = found.lists[index];
        if (items) for (const each of elements) items.push(find(list, each));
      }
      return found;
    }

    function findValues(slot: ElementSlot, element: ElementNode): Raw[] {
      const { selector } = slot;
      if (!selector && element.parent === undefined) return [html];
      return elementsOf({ all, first }, slot, element).map((each) =>
        slot.attr === undefined
          ? { start: each.start, end: each.end, tag: each.tag }
          : (each.attributes.get(slot.attr) ?? null),
      );
    }
  };
}

function elementsOf(
  { all, first }: Selecting,
  { selector, all: wantsAll }: ElementSlot,
  element: ElementNode,
): readonly ElementNode[] {
  if (!selector) return [element];
  if (wantsAll) return atMost(all(selector, element), 'values of one field');
  const found = first(selector, element);
  return found ? [found] : [];
}

function atMost<T>(found: readonly T[], what: string): readonly T[] {
  if (found.length > VALUES_MAX) throw tooMuch(`more than ${VALUES_MAX} ${what}`);
  return found;
}
