/** How much one page may cost. A page that asks for more is refused: it would not be better the next time. */
import { Failure } from '../domain/failure.ts';

export const HTML_MAX_CHARACTERS = 32 * 1024 * 1024;
/** Deeper elements become children of the last one that is not too deep, as browsers do it. */
export const DEPTH_MAX = 512;
/** Where a tree must be kept; a page that is read in one pass has no such limit. */
export const TREE_ELEMENTS_MAX = 500_000;
/** Steps that selectors may take on a tree. */
export const TREE_STEPS_MAX = 20_000_000;
/** Values of one field of one item, and items of one list. */
export const VALUES_MAX = 10_000;
/** Characters that all values of a page are made from. */
export const VALUES_MAX_CHARACTERS = 32 * 1024 * 1024;
export const OUTPUT_DEPTH_MAX = 32;

/** Counts down; throws when the page wants more. */
export interface Budget {
  spend(amount: number): void;
}

export function createBudget(most: number, what: string): Budget {
  let left = most;
  return {
    spend(amount) {
      left -= amount;
      if (left < 0) throw tooMuch(`${what}: more than ${most}`);
    },
  };
}

export function tooMuch(what: string): Failure {
  return new Failure('INVALID', `the page is too large to extract from: ${what}`, {
    hint: 'Select less of it, or write a handler for this page.',
  });
}
