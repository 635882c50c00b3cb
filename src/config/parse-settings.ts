/** The settings that a YAML text gives, each with its line, and everything that is wrong with the text's form. */
import * as yaml from 'yaml';
import { settings } from './catalogue.ts';
import type { FieldPath } from './fields.ts';
import type { Given } from './given.ts';
import { pickNearest } from '../domain/nearest.ts';
import type { Raw } from './parsers.ts';

export interface FileSettings {
  readonly given: ReadonlyMap<FieldPath, Given>;
  readonly problems: readonly string[];
}

/** The settings of `general` stand at the top of the file; there is no section of that name. */
const sections = new Set<string>(settings.map((each) => each.section).filter((name) => name !== 'general'));

/** Own words, because the parser's messages quote the text, and the text may be a secret in the wrong place. */
const SYNTAX: Partial<Record<yaml.ErrorCode, string>> = {
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  BAD_SCALAR_START: 'a value starts with a reserved character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'two keys on one line; put a value that holds ": " in quotes',
  DUPLICATE_KEY: 'this key was given before',
  MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a key without its colon, or a colon without a space after it',
  MULTIPLE_DOCS: 'a second document starts here; only one is allowed',
  TAB_AS_INDENT: 'a tab; indent with spaces',
};

export function parseSettings(text: string, path: string): FileSettings {
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const given = new Map<FieldPath, Given>();
  const problems: string[] = [];
  const reported = new Set<string>();

  for (const { code, pos } of [...document.errors, ...document.warnings])
    report(pos[0], SYNTAX[code] ?? 'this is not valid YAML');
  if (problems.length === 0 && !isEmpty(document.contents)) readEntries(document.contents, undefined);
  return { given, problems };

  function readEntries(node: unknown, section: string | undefined): void {
    const target = resolveAlias(node);
    if (!yaml.isMap(target)) {
      report(offsetOf(node), `${section ?? 'the file'} must hold settings, as lines of "key: value"`);
      return;
    }
    for (const { key, value } of target.items) readEntry({ section, key, value });
  }

  function readEntry(entry: { section: string | undefined; key: unknown; value: unknown }): void {
    const { section, key, value } = entry;
    const word = yaml.isScalar(key) ? String(key.value) : '';
    const setting = settings.find((each) => each.section === (section ?? 'general') && each.key === word);
    if (section === undefined && sections.has(word)) {
      // A section whose settings are all commented out has no value, which is fine.
      if (!isEmpty(value)) readEntries(value, word);
    } else if (setting === undefined) {
      report(offsetOf(key), describeUnknown(section === undefined ? word : `${section}.${word}`));
    } else if (isEmpty(value)) {
      report(offsetOf(key), `${setting.path} has no value; give it one or remove the line`);
    } else {
      const raw = readRaw(value);
      if (raw === undefined)
        report(offsetOf(value), `${setting.path} must be ${setting.field.parser.allowed}`);
      else given.set(setting.path, { raw, source: { kind: 'file', where: locate(offsetOf(value)) } });
    }
  }

  function readRaw(node: unknown): Raw | undefined {
    const target = resolveAlias(node);
    if (yaml.isSeq(target)) {
      const parts = target.items.map((item) => readText(resolveAlias(item)));
      return parts.every((part) => part !== undefined) ? parts : undefined;
    }
    return readText(target);
  }

  function resolveAlias(node: unknown): unknown {
    return yaml.isAlias(node) ? node.resolve(document) : node;
  }

  function report(offset: number, problem: string): void {
    const line = `${locate(offset)}: ${problem}`;
    // The parser may find the same place wrong twice.
    if (!reported.has(line)) problems.push(line);
    reported.add(line);
  }

  function locate(offset: number): string {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  }
}

/** As it was written: `0123` and `1.10` must reach the parsers as text, not as the numbers YAML makes of them. */
function readText(node: unknown): string | undefined {
  if (!yaml.isScalar(node) || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : node.source;
}

function isEmpty(node: unknown): boolean {
  return node === null || node === undefined || (yaml.isScalar(node) && node.value === null);
}

function offsetOf(node: unknown): number {
  return yaml.isScalar(node) || yaml.isMap(node) || yaml.isSeq(node) || yaml.isAlias(node)
    ? (node.range?.[0] ?? 0)
    : 0;
}

function describeUnknown(name: string): string {
  // A key that is no word may be a value that lost its key, and so a secret.
  if (!/^[\w-]{1,40}(\.[\w-]{1,40})?$/.test(name)) return 'this key is not a setting';
  const [section, key] = name.split('.');
  if (settings.some((each) => each.path === name)) return `write "${key}:" below "${section}:"`;
  const nearest = pickNearest(name, [...settings.map((each) => each.path), ...sections]);
  return `${name} is not a setting${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}
