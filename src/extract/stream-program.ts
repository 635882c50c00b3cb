/**
 * A plan as a table for one pass over a page: every part of every selector has a number, and an element's state is the
 * set of numbers that it completes. A part is tried only on elements that can be it: by tag, or else by class, or else
 * on all.
 */
import type { ElementSlot, ListPlan, MatchPlan } from './match-plan.ts';
import type { AttributeTest, Compound, ParsedSelector, Relation } from './selector.ts';
import { createTagTable, type TagTable } from './tags.ts';

/** What happens when an element completes a selector. */
export interface Goal {
  /** Of the plan whose open items it belongs to. */
  readonly owner: number;
  readonly depth: number;
  readonly slot: ElementSlot | undefined;
  /** Its place among the owner's slots, or lists. */
  readonly index: number;
  /** The plan that a new item follows. */
  readonly opens: number;
}

export interface Part {
  readonly number: number;
  readonly relation: Relation;
  readonly attributes: readonly AttributeTest[];
  readonly place: Compound['place'];
  readonly tagId: number; // -1: any
  /** Only of the last part of a selector: the goal's number. */
  readonly goal: number;
}

export interface StreamProgram {
  readonly tags: TagTable;
  readonly partCount: number;
  readonly byTag: readonly (readonly Part[] | undefined)[];
  readonly byWord: ReadonlyMap<string, readonly Part[]>;
  readonly always: readonly Part[];
  /** Those of inner lists come first: an element is inside of an item only if it did not open it. */
  readonly goals: readonly Goal[];
  readonly plans: readonly MatchPlan[];
}

/** Undefined: a selector needs the whole tree. */
export function createStreamProgram(root: MatchPlan): StreamProgram | undefined {
  const plans: MatchPlan[] = [];
  const wanted: { goal: Goal; selector: ParsedSelector }[] = [];
  visit(root, 0);
  if (wanted.some(({ selector }) => selector.streams === undefined)) return undefined;
  wanted.sort((a, b) => b.goal.depth - a.goal.depth);
  const chains = wanted.flatMap(({ selector }, goal) =>
    (selector.streams ?? []).map((compounds) => ({ compounds, goal })),
  );
  const tags = createTagTable(chains.flatMap(({ compounds }) => compounds.flatMap(({ tag }) => tag ?? [])));
  return { tags, ...index(chains, tags), goals: wanted.map(({ goal }) => goal), plans };

  function visit(plan: MatchPlan, depth: number): number {
    const owner = plans.push(plan) - 1;
    for (const [index, slot] of plan.slots.entries()) {
      if (slot.selector)
        wanted.push({ goal: { owner, depth, slot, index, opens: -1 }, selector: slot.selector });
    }
    for (const [index, list] of plan.lists.entries()) visitList(list, { owner, depth, index });
    return owner;
  }

  function visitList(list: ListPlan, at: { owner: number; depth: number; index: number }): void {
    const opens = visit(list, at.depth + 1);
    wanted.push({ goal: { ...at, slot: undefined, opens }, selector: list.each });
  }
}

type Chain = { readonly compounds: readonly Compound[]; readonly goal: number };

function index(
  chains: readonly Chain[],
  tags: TagTable,
): Pick<StreamProgram, 'partCount' | 'byTag' | 'byWord' | 'always'> {
  const byTag = new Array<Part[] | undefined>(tags.size);
  const byWord = new Map<string, Part[]>();
  const always: Part[] = [];
  let number = 0;
  for (const { compounds, goal } of chains) {
    for (const [place, { tag, attributes, ...rest }] of compounds.entries()) {
      const isLast = place === compounds.length - 1;
      const tagId = tag === undefined ? -1 : tags.idOf(tag);
      const part = { ...rest, number, attributes, tagId, goal: isLast ? goal : -1 };
      number += 1;
      const word = attributes.find((each) => each.name === 'class' && each.word !== undefined)?.word;
      if (tagId !== -1) (byTag[tagId] ??= []).push(part);
      else if (word !== undefined) byWord.set(word, [...(byWord.get(word) ?? []), part]);
      else always.push(part);
    }
  }
  return { partCount: number, byTag, byWord, always };
}
