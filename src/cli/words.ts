/** What yargs cannot say about the words of a command line, said before and after it reads them. */
import { Failure } from '../domain/failure.ts';
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

function withDashes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDashes);
  return value === KEPT ? STDIN : value;
}
