/** Words in the value of an attribute, such as the classes of an element. */
import { attributeValue, type Attributes } from './attributes.ts';

const SPACE = /\s/;

export function hasWord(attributes: Attributes, index: number, word: string): boolean {
  const { html, spans } = attributes;
  const start = spans[index * 4 + 2] ?? 0;
  const end = spans[index * 4 + 3] ?? 0;
  if (end - start === word.length && html.startsWith(word, start)) return true;
  return includesWord(attributeValue(attributes, index), word);
}

function includesWord(value: string, word: string): boolean {
  let at = value.indexOf(word);
  while (at !== -1) {
    const end = at + word.length;
    if (
      (at === 0 || SPACE.test(value.charAt(at - 1))) &&
      (end === value.length || SPACE.test(value.charAt(end)))
    )
      return true;
    at = value.indexOf(word, at + 1);
  }
  return false;
}

const KEPT_MAX = 1_000;
const KEPT_MAX_CHARACTERS = 200;

/** What the words of a value stand for. A site has few values of `class` and many elements, so answers are kept. */
export function createWordIndex<T>(
  byWord: ReadonlyMap<string, readonly T[]>,
): (value: string) => readonly T[] {
  const kept = new Map<string, readonly T[]>();
  return (value) => {
    const known = kept.get(value);
    if (known) return known;
    const found = [...new Set(value.split(/\s+/))].flatMap((word) => byWord.get(word) ?? []);
    if (value.length <= KEPT_MAX_CHARACTERS) {
      if (kept.size >= KEPT_MAX) kept.clear();
      // A slice would keep the whole page in memory.
      kept.set(Buffer.from(value).toString(), found);
    }
    return found;
  };
}
