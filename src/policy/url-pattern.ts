/**
 * Patterns of addresses: `*` stands for any characters and all else for itself; one that starts with `/` is about path
 * and query alone. `re2:…` is a regular expression that is found anywhere in the address.
 */
import { RE2JS } from 're2js';
import { Failure, messageOf } from '../domain/failure.ts';

export const URL_PATTERN_MAX_BYTES = 512;

export type UrlPattern = (url: string) => boolean;

export function compileUrlPattern(source: string): UrlPattern {
  if (source === '') throw new Failure('INVALID', 'the pattern is empty');
  if (Buffer.byteLength(source) > URL_PATTERN_MAX_BYTES)
    throw new Failure('INVALID', `the pattern is longer than ${URL_PATTERN_MAX_BYTES} bytes`);
  if (source.startsWith('re2:')) return compileExpression(source.slice(4));
  const parts = source.split('*');
  const isPath = source.startsWith('/');
  return (url) => matchesParts(isPath ? pathOf(url) : url, parts);
}

function compileExpression(source: string): UrlPattern {
  try {
    const pattern = RE2JS.compile(source);
    return (url) => pattern.matcher(url).find();
  } catch (cause) {
    throw new Failure('INVALID', `the pattern cannot be read: ${messageOf(cause)}`, {
      hint: 'Patterns are RE2: no look-around, no back-references.',
      cause,
    });
  }
}

/** Each part at its first place behind the one before: no backtracking. */
function matchesParts(text: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  if (parts.length === 1) return text === first;
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start === -1 ? '/' : url.slice(start);
}
