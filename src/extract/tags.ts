/**
 * Tags by name, found from the text of a page without making a string of it: most tags of a page are few names, and a
 * page has hundreds of them.
 */
import {
  COMMON_TAGS,
  FLAGS,
  FOREIGN_TAGS,
  INTEGRATION_TAGS,
  RAW_TAGS,
  VOID_TAGS,
  type RawKind,
} from './html-rules.ts';

export interface Tag {
  readonly name: string;
  /** Its place in the table; -1 for a name that the table does not have. */
  readonly id: number;
  readonly isVoid: boolean;
  readonly raw: RawKind | undefined;
  /** The groups that it is in, one bit each. */
  readonly flags: number;
  /** What holds inside of it: `true` foreign rules, `false` those of HTML, undefined as outside. */
  readonly foreign: boolean | undefined;
}

export interface TagTable {
  readonly size: number;
  readonly idOf: (name: string) => number;
  readonly named: (name: string) => Tag;
  /** Of the name that stands there; `hash` is that of its lower-case letters. Undefined: not in the table. */
  readonly find: (html: string, start: number, end: number, hash: number) => Tag | undefined;
}

/** One step of the hash; letters in either case come to the same. */
export function hashStep(hash: number, code: number): number {
  return (Math.imul(hash, 31) + (code | 0x20)) | 0;
}

const KNOWN: readonly string[] = [
  ...new Set([
    ...COMMON_TAGS,
    ...VOID_TAGS,
    ...Object.keys(RAW_TAGS),
    ...FLAGS.keys(),
    ...FOREIGN_TAGS,
    ...INTEGRATION_TAGS,
  ]),
];
const SLOTS = 1024;

export function createTag(name: string, id: number): Tag {
  return {
    name,
    id,
    isVoid: VOID_TAGS.includes(name),
    raw: Object.hasOwn(RAW_TAGS, name) ? RAW_TAGS[name] : undefined,
    flags: FLAGS.get(name) ?? 0,
    foreign: FOREIGN_TAGS.includes(name) ? true : INTEGRATION_TAGS.includes(name) ? false : undefined,
  };
}

/** `more`: names of a template's own, in lower case. */
export function createTagTable(more: readonly string[] = []): TagTable {
  const names = [...new Set([...KNOWN, ...more])];
  const slots = new Array<Tag[] | undefined>(SLOTS);
  const byName = new Map<string, Tag>();
  for (const [id, name] of names.entries()) {
    let hash = 0;
    for (let at = 0; at < name.length; at += 1) hash = hashStep(hash, name.charCodeAt(at));
    const slot = (slots[hash & (SLOTS - 1)] ??= []);
    const tag = createTag(name, id);
    slot.push(tag);
    byName.set(name, tag);
  }
  return {
    size: names.length,
    idOf: (name) => byName.get(name)?.id ?? -1,
    named: (name) => byName.get(name) ?? createTag(name, -1),
    find(html, start, end, hash) {
      const slot = slots[hash & (SLOTS - 1)];
      if (slot === undefined) return undefined;
      for (const tag of slot) if (equalsFolded(html, start, end, tag.name)) return tag;
      return undefined;
    },
  };
}

/** Whether the text there is `name`, which is in lower case. */
export function equalsFolded(html: string, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) {
    const code = html.charCodeAt(start + at);
    const wanted = name.charCodeAt(at);
    if (code === wanted || (code >= 65 && code <= 90 && code + 32 === wanted)) continue;
    // Letters that are not ASCII have cases too.
    return code > 127 && html.slice(start, end).toLowerCase() === name;
  }
  return true;
}
