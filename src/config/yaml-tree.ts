/** A YAML text as plain values that know their lines: for files that are checked word by word. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface YamlEntry {
  readonly key: string;
  readonly keyAt: Place;
  readonly value: YamlValue;
}

export type YamlValue =
  | { readonly kind: 'empty'; readonly at: Place }
  | { readonly kind: 'map'; readonly at: Place; readonly entries: readonly YamlEntry[] }
  | { readonly kind: 'list'; readonly at: Place; readonly items: readonly YamlValue[] }
  /** `text`: as it was written, so that `0123` and `1.10` stay what they are. */
  | {
      readonly kind: 'scalar';
      readonly at: Place;
      readonly text: string;
      readonly value: string | number | boolean;
    };

export type YamlTree =
  | { readonly ok: true; readonly root: YamlValue }
  | { readonly ok: false; readonly problems: readonly string[] };

/** An alias may stand for a list of aliases, and so on: counted after they are followed. */
const VALUES_MAX = 20_000;
const DEPTH_MAX = 40;
const TEXT_MAX_CHARACTERS = 1024 * 1024;

export function parseYamlTree(text: string, file: string): YamlTree {
  if (text.length > TEXT_MAX_CHARACTERS)
    return { ok: false, problems: [`${file}: the file is over ${TEXT_MAX_CHARACTERS} characters`] };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => {
    const { line, column } = placeAt(pos[0]);
    return `${file}:${line}:${column}: ${message}`;
  });
  if (faults.length > 0) return { ok: false, problems: [...new Set(faults)] };
  const root = createConverter(document, placeAt)(document.contents, { line: 1, column: 1 }, 0);
  return root
    ? { ok: true, root }
    : { ok: false, problems: [`${file}: more than ${VALUES_MAX} values, or deeper than ${DEPTH_MAX}`] };
}

function createConverter(
  document: Document,
  placeAt: (offset: number) => Place,
): (node: unknown, at: Place, depth: number) => YamlValue | undefined {
  let count = 0;
  return convert;

  /** Undefined: too much. */
  function convert(node: unknown, outer: Place, depth: number): YamlValue | undefined {
    count += 1;
    if (count > VALUES_MAX || depth > DEPTH_MAX) return undefined;
    const at = placeOf(node) ?? outer;
    const target = isAlias(node) ? node.resolve(document) : node;
    if (isMap(target)) {
      const entries: YamlEntry[] = [];
      for (const { key, value } of target.items) {
        const keyAt = placeOf(key) ?? at;
        const converted = convert(value, keyAt, depth + 1);
        if (!converted) return undefined;
        entries.push({ key: isScalar(key) ? String(key.value) : '', keyAt, value: converted });
      }
      return { kind: 'map', at, entries };
    }
    if (isSeq(target)) {
      const items: YamlValue[] = [];
      for (const each of target.items) {
        const converted = convert(each, at, depth + 1);
        if (!converted) return undefined;
        items.push(converted);
      }
      return { kind: 'list', at, items };
    }
    return convertScalar(target, at);
  }

  function placeOf(node: unknown): Place | undefined {
    const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined;
    return range === undefined ? undefined : placeAt(range);
  }
}

function convertScalar(node: unknown, at: Place): YamlValue {
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return { kind: 'empty', at };
  const source = isScalar(node) ? node.source : undefined;
  return { kind: 'scalar', at, value, text: typeof value === 'string' ? value : (source ?? String(value)) };
}
