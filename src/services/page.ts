/** A list that may be too long for one message: told page by page, in the order of its names. */
import * as v from 'valibot';

const LIMIT = 1_000;

export const pageRequest = v.object({
  /** The last name of the page before. */
  after: v.optional(v.string()),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LIMIT)), LIMIT),
});

export type PageRequest = v.InferOutput<typeof pageRequest>;

export interface Page<T> {
  readonly items: readonly T[];
  /** `next`: ask again with this as `after`. */
  readonly rest: { readonly next?: string };
  filter(fits: (item: T) => unknown): Page<T>;
  map<R>(change: (item: T) => R): Page<R>;
}

/** What is filtered out of a page makes that page shorter, not the list. */
export function page<T>(
  all: readonly T[],
  { after = '', limit }: PageRequest,
  nameOf: (item: T) => string,
): Page<T> {
  const behind = all.filter((item) => nameOf(item) > after).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const items = behind.slice(0, limit);
  const last = items.at(-1);
  return pageOf(items, behind.length > items.length && last !== undefined ? { next: nameOf(last) } : {});
}

function pageOf<T>(items: readonly T[], rest: Page<T>['rest']): Page<T> {
  return {
    items,
    rest,
    filter: (fits) => pageOf(items.filter(fits), rest),
    map: (change) => pageOf(items.map(change), rest),
  };
}
