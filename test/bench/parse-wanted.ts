/** What every parser of the bench takes out of a page. */

export interface Contestant {
  readonly name: string;
  readonly extract: (html: string) => unknown;
}

/** Selector, and the attribute where it is not the text. */
export const FIELDS = {
  name: ['h1'],
  brand: ['[itemprop=brand]'],
  price: ['.offer .price'],
  id: ['.offer', 'data-id'],
  released: ['.facts time', 'datetime'],
} as const;
export const EACH = 'ul.reviews > li.review';
export const ITEM = {
  author: ['b.author'],
  stars: ['.stars', 'data-stars'],
  date: ['time', 'datetime'],
  day: ['time'],
  text: ['p'],
} as const;

export type Names = Readonly<Record<string, readonly [string, string?]>>;
export type Value = string | null;
