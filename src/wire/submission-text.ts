/**
 * Text from outside → the tasks in it. Two layouts:
 *
 *   lines      one task per line, a URL or a JSON value; blank lines count for nothing
 *   document   one JSON value over any number of lines; an array holds one task per member
 *
 * Text that begins with `[` is a document. Text that begins with `{` is one if its first line does not end with `}`
 * and no later line begins like a task. Everything else is lines, so that a broken line costs only itself.
 */
import { Failure } from '../domain/failure.ts';
import { findJsonProblem, memberRanges } from './json-scan.ts';
import type { Members } from './submission-members.ts';

const strict = new TextDecoder('utf-8', { fatal: true });
const lenient = new TextDecoder('utf-8');
const encoder = new TextEncoder();
const LINE_FEED = 0x0a;
const TASK_OPENING = /^(?:\{|"?https?:)/i;

/** Throws `INVALID` when the text as a whole cannot be read. */
export function textMembers(data: Uint8Array): Members {
  const text = decodeText(data);
  if (text === undefined) return brokenTextMembers(data);
  const lines = splitLines(text);
  return isDocument(lines) ? documentMembers(text, data) : lineMembers(lines);
}

function lineMembers(lines: readonly string[]): Members {
  const lineAt = (index: number): string => lines[index] ?? '';
  return {
    count: lines.length,
    read: (index) => readLine(lineAt(index)),
    bytes: (index) => encoder.encode(lineAt(index)),
  };
}

function documentMembers(text: string, data: Uint8Array): Members {
  const value = parseJson(text);
  if (!Array.isArray(value)) return { count: 1, read: () => value, bytes: () => data };
  let ranges: [number, number][] | undefined;
  return {
    count: value.length,
    read: (index) => value[index] as unknown,
    bytes: (index) => encoder.encode(text.slice(...((ranges ??= memberRanges(text))[index] ?? [0, 0]))),
  };
}

/** Some bytes are not UTF-8: in lines that costs only the lines they are in. */
function brokenTextMembers(data: Uint8Array): Members {
  if (isDocument(splitLines(lenient.decode(data)))) throw notUtf8('the message');
  const lines = splitBytes(data).filter((line) => lenient.decode(line).trim() !== '');
  const lineAt = (index: number): Uint8Array => lines[index] ?? new Uint8Array();
  return {
    count: lines.length,
    read: (index) => {
      const line = decodeText(lineAt(index));
      if (line === undefined) throw notUtf8('it');
      return readLine(line.trim());
    },
    bytes: lineAt,
  };
}

function isDocument(lines: readonly string[]): boolean {
  const first = lines[0] ?? '';
  if (first.startsWith('[')) return true;
  if (lines.length === 1 || !first.startsWith('{') || first.trimEnd().endsWith('}')) return false;
  return !lines.some((line, index) => index > 0 && TASK_OPENING.test(line));
}

function readLine(line: string): unknown {
  const text = line.trim();
  const first = text.charAt(0);
  return first === '{' || first === '"' || first === '[' ? parseJson(text) : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('INVALID', wordsFor(text));
  }
}

/** Where the JSON breaks. Not in the words of `JSON.parse`, which repeat the text and so perhaps a password. */
function wordsFor(text: string): string {
  const problem = findJsonProblem(text);
  if (problem === undefined) return 'broken JSON';
  const before = text.slice(0, problem.at).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  const place = before.length > 1 ? `line ${before.length}, character ${column}` : `character ${column}`;
  return `broken JSON at ${place}: ${problem.wanted}`;
}

function notUtf8(what: string): Failure {
  return new Failure('INVALID', `${what} is not UTF-8 text`);
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Without the blank ones, and without the space that follows; what stands before a task tells its layout. */
function splitLines(text: string): string[] {
  const lines = text.trim().split('\n');
  return lines.filter((line) => line.trim() !== '');
}

function splitBytes(data: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < data.length;) {
    const feed = data.indexOf(LINE_FEED, start);
    const end = feed === -1 ? data.length : feed;
    lines.push(data.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
