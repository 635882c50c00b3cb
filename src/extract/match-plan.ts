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

/** Null: the element was found, and does not have the attribute. */
export type Raw = string | Span | null;

export interface FoundItem {
  /** One per slot: of one that wants all a list, of the others the first. Undefined: no such element. */
  readonly values: (Raw | Raw[] | undefined)[];
  /** One list of items per list of the plan. */
  readonly lists: readonly FoundItem[][];
}

export type Matcher = (html: string) => FoundItem;

const NO_LISTS: FoundItem['lists'] = [];

export function createFound({ slots, lists }: MatchPlan): FoundItem {
  return {
    values: new Array<undefined>(slots.length).fill(undefined),
    lists: lists.length === 0 ? NO_LISTS : lists.map(() => []),
  };
}

export function listOf(value: Raw | readonly Raw[] | undefined): readonly Raw[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Raw[]) : [value as Raw];
}

export function allSelectors(plan: MatchPlan): ParsedSelector[] {
  return [
    ...plan.slots.flatMap(({ selector }) => (selector ? [selector] : [])),
    ...plan.lists.flatMap((list) => [list.each, ...allSelectors(list)]),
  ];
}
