/** What is looked for on a page, and what was found. How a page is read does not matter to either. */
import type { Span } from './html-text.ts';
import type { ParsedSelector } from './selector.ts';

export interface ElementSlot {
  /** Undefined: the element that the list is about; of the page itself, everything. */
  readonly selector: ParsedSelector | undefined;
  /** In lower case. Undefined: what is inside of the element. */
  readonly attr: string | undefined;
  readonly all: boolean;
}

/** The page as a whole, or one list of elements in it. */
export interface MatchPlan {
  readonly slots: readonly ElementSlot[];
  readonly lists: readonly ListPlan[];
}

export interface ListPlan extends MatchPlan {
  readonly each: ParsedSelector;
}

/** Undefined: the element was found, and does not have the attribute. */
export type Raw = string | Span | undefined;

export interface FoundItem {
  /** One list per slot. */
  readonly values: readonly Raw[][];
  /** One list of items per list of the plan. */
  readonly lists: readonly FoundItem[][];
}

export type Matcher = (html: string) => FoundItem;

export function createFound(plan: MatchPlan): FoundItem {
  return { values: plan.slots.map(() => []), lists: plan.lists.map(() => []) };
}

export function allSelectors(plan: MatchPlan): ParsedSelector[] {
  return [
    ...plan.slots.flatMap(({ selector }) => (selector ? [selector] : [])),
    ...plan.lists.flatMap((list) => [list.each, ...allSelectors(list)]),
  ];
}
