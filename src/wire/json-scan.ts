/**
 * Two questions that `JSON.parse` does not answer: where a text stops being JSON (its own words tell the place
 * only sometimes, and repeat the text), and which part of the text each member of an array came from.
 */

export interface JsonProblem {
  /** Index into the text. */
  readonly at: number;
  readonly wanted: string;
}

/** What may come next. `first…` = the container was just opened, so it may also close. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'comma' | 'end';

const SPACE = /[\t\n\r ]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

const WANTED: Readonly<Record<Next, string>> = {
  value: 'a value was expected',
  'first value': 'a value or ] was expected',
  key: 'a name in double quotes was expected',
  'first key': 'a name in double quotes or } was expected',
  colon: 'a colon was expected',
  comma: 'a comma or the closing bracket was expected',
  end: 'there is more text after the end',
};

/** The first place where the text is not JSON, or nothing when it is. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  const closers: ('}' | ']')[] = [];
  let next = 'value' as Next;
  let at = skip(SPACE, text, 0);
  while (at < text.length) {
    const char = text.charAt(at);
    const end = next === 'colon' || next === 'comma' || next === 'end' ? -1 : stringOrScalar(text, at, next);
    const closer = closers.at(-1);
    if (end > at) {
      next = next === 'key' || next === 'first key' ? 'colon' : afterValue();
      at = end;
    } else if ((next === 'value' || next === 'first value') && (char === '{' || char === '[')) {
      closers.push(char === '{' ? '}' : ']');
      next = char === '{' ? 'first key' : 'first value';
      at += 1;
    } else if (next === 'colon' && char === ':') {
      next = 'value';
      at += 1;
    } else if (next === 'comma' && char === ',') {
      next = closer === '}' ? 'key' : 'value';
      at += 1;
    } else if ((next === 'comma' || next.startsWith('first')) && char === closer) {
      closers.pop();
      next = afterValue();
      at += 1;
    } else {
      return { at, wanted: char === '"' ? stringProblem(next) : WANTED[next] };
    }
    at = skip(SPACE, text, at);
  }
  return next === 'end' ? undefined : { at: text.length, wanted: 'it ends too early' };

  function afterValue(): Next {
    return closers.length === 0 ? 'end' : 'comma';
  }
}

/** Start and end of every member; the text must be a JSON array. */
export function memberRanges(text: string): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  let depth = 0;
  let start = -1;
  let last = 0; // end of the last character that was no space
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (depth === 1 && (char === ',' || char === ']')) {
      if (start >= 0) ranges.push([start, last]);
      start = -1;
      if (char === ']') break;
      continue;
    }
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') continue;
    if (depth === 1 && start < 0) start = at;
    if (char === '"') at = stringEnd(text, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    last = at + 1;
  }
  return ranges;
}

function stringProblem(next: Next): string {
  return next === 'colon' || next === 'comma' || next === 'end'
    ? WANTED[next]
    : 'a text in double quotes is not closed, or has a character in it that needs a backslash';
}

/** End of the string (or, for a value, the scalar) that opens here; -1 when none does. */
function stringOrScalar(text: string, at: number, next: Next): number {
  if (text.charAt(at) === '"') return stringEnd(text, at);
  return next === 'value' || next === 'first value' ? match(SCALAR, text, at) : -1;
}

function stringEnd(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return -1;
    at = code === 0x5c ? match(ESCAPE, text, at) : at + 1;
    if (at < 0) return -1;
  }
  return -1;
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function skip(pattern: RegExp, text: string, at: number): number {
  return Math.max(at, match(pattern, text, at));
}
