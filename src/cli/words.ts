/** What yargs cannot say about the words of a command line, said before and after it reads them. */
import { Failure } from '../domain/failure.ts';
import { pickNearest } from '../domain/nearest.ts';
import type { Arguments } from './arguments.ts';

/** yargs takes a lone `-` for an option without a name when it is an argument; with room around it, for text. */
const STDIN = '-';
const KEPT = ` ${STDIN} `;

export function keepDashes(words: readonly string[]): string[] {
  return words.map((word) => (word === STDIN ? KEPT : word));
}

/** What was parsed, with its dashes, and with the run in `run` wherever it was said. */
export function readWords(argv: Arguments): Arguments {
  const words = Object.fromEntries(Object.entries(argv).map(([name, value]) => [name, withDashes(value)]));
  const { RUN: first, run: second, ...rest } = words;
  if (first === undefined) return words;
  if (second !== undefined && second !== first)
    throw new Failure(
      'INVALID',
      `one run, please: ${JSON.stringify(first)} or --run ${JSON.stringify(second)}`,
    );
  return { ...rest, run: first };
}

/** In the words of yargs, and with the option that was most likely meant. */
export function explainMistake(message: string, words: readonly string[], known: readonly string[]): Failure {
  const unknown = /^Unknown arguments?: ([^ ,]+)/.exec(message)?.[1] ?? '';
  const isOption = words.some((word) => word === `--${unknown}` || word.startsWith(`--${unknown}=`));
  const nearest = isOption ? pickNearest(unknown, known) : undefined;
  const guess = nearest === undefined ? '' : `Did you mean --${nearest}? `;
  return new Failure('INVALID', message, { hint: `${guess}\`trawl --help\` shows how.` });
}

function withDashes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDashes);
  return value === KEPT ? STDIN : value;
}
