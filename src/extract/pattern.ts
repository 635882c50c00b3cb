/** Patterns of templates are RE2: whatever a page says, matching takes time in proportion to its length. */
import { RE2JS } from 're2js';
import { Failure, messageOf } from '../domain/failure.ts';

export const PATTERN_MAX_BYTES = 512;
export const PATTERN_INPUT_MAX_CHARACTERS = 1024 * 1024;
export const PATTERNS_MAX = 50; // of one template

export function compilePattern(source: string): RE2JS {
  if (Buffer.byteLength(source) > PATTERN_MAX_BYTES)
    throw new Failure('INVALID', `the pattern is longer than ${PATTERN_MAX_BYTES} bytes`);
  try {
    return RE2JS.compile(source);
  } catch (cause) {
    throw new Failure('INVALID', `the pattern cannot be read: ${messageOf(cause)}`, {
      hint: 'Patterns are RE2: no look-around, no back-references.',
      cause,
    });
  }
}

/** Takes a group of the first match out of a text; undefined: no match, or the group took no part in it. */
export function createTaker(source: string, group?: number | string): (text: string) => string | undefined {
  const pattern = compilePattern(source);
  const wanted = group ?? (pattern.groupCount() > 0 ? 1 : 0);
  if (
    typeof wanted === 'number' ? wanted > pattern.groupCount() : !Object.hasOwn(pattern.namedGroups(), wanted)
  )
    throw new Failure('INVALID', `the pattern has no group ${wanted}`);
  return (text) => {
    const matcher = pattern.matcher(text.slice(0, PATTERN_INPUT_MAX_CHARACTERS));
    if (!matcher.find()) return undefined;
    return matcher.group(wanted) ?? undefined;
  };
}
