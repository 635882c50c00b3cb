/**
 * How a scraper tells that it is not welcome, where the status alone does not say so: a captcha with status 200, a
 * header of a guard in front of the site. Patterns are RE2, so that no page can make one run for long.
 */
import { RE2JS } from 're2js';
import { Failure, messageOf } from '../domain/failure.ts';

/** Every part that is given must match. */
export interface BlockRule {
  readonly status?: number | readonly number[] | undefined;
  /** The header is there, and if `matches` is given, its value matches. */
  readonly header?: { readonly name: string; readonly matches?: string | undefined } | undefined;
  /** Found in the first 64 KB of the page. */
  readonly body?: string | undefined;
  /** What the match means; `blocked` if not said. */
  readonly outcome?: 'blocked' | 'throttled' | undefined;
}

export interface CompiledRule {
  /** The rule's place in the list, for messages. */
  readonly number: number;
  readonly statuses: ReadonlySet<number> | undefined;
  readonly headerName: string | undefined;
  readonly header: RE2JS | undefined;
  readonly body: RE2JS | undefined;
  readonly outcome: 'blocked' | 'throttled';
}

export const RULES_MAX = 50;
export const PATTERN_MAX_BYTES = 512;

export function compileRules(rules: readonly BlockRule[]): readonly CompiledRule[] {
  if (rules.length > RULES_MAX) {
    throw new Failure('INVALID', `${rules.length} block rules, and at most ${RULES_MAX} are allowed`, {
      hint: 'Join patterns with | into one rule.',
    });
  }
  return rules.map(compileRule);
}

function compileRule(rule: BlockRule, index: number): CompiledRule {
  const number = index + 1;
  const { status, header, body } = rule;
  if (status === undefined && header === undefined && body === undefined) {
    throw new Failure('INVALID', `block rule ${number} is empty and would match every page`, {
      hint: 'Give it a status, a header or a body pattern.',
    });
  }
  const statuses = status === undefined ? undefined : new Set(typeof status === 'number' ? [status] : status);
  return {
    number,
    statuses,
    headerName: header?.name.toLowerCase(),
    header: compilePattern(header?.matches, number),
    body: compilePattern(body, number),
    outcome: rule.outcome ?? 'blocked',
  };
}

function compilePattern(pattern: string | undefined, number: number): RE2JS | undefined {
  if (pattern === undefined) return undefined;
  if (Buffer.byteLength(pattern) > PATTERN_MAX_BYTES) {
    throw new Failure(
      'INVALID',
      `the pattern of block rule ${number} is longer than ${PATTERN_MAX_BYTES} bytes`,
    );
  }
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Failure('INVALID', `the pattern of block rule ${number} cannot be read: ${messageOf(error)}`, {
      hint: 'Patterns are RE2: no look-around, no back-references.',
      cause: error,
    });
  }
}
