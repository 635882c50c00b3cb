/** One row of the table of settings. */
import type { Parser } from './parsers.ts';

export interface Field<T> {
  readonly parser: Parser<T>;
  /** As a user would write it; it goes through the same parser. Undefined: the setting may stay unset. */
  readonly default: string | undefined;
  readonly doc: string;
  /** Instead of the flag made from the path. */
  readonly flag: string | undefined;
  /** Accepted beside the flag, and the same to the parser. */
  readonly flagAlias: string | undefined;
  /** Accepted beside the variable made from the path, which wins over it. */
  readonly envAlias: string | undefined;
}

export interface FieldNames {
  readonly flag?: string;
  readonly flagAlias?: string;
  readonly envAlias?: string;
}

export function field<T>(parser: Parser<T>, fallback: string, doc: string, names: FieldNames = {}): Field<T> {
  return { parser, default: fallback, doc, ...allNames(names) };
}

export function optional<T>(parser: Parser<T>, doc: string, names: FieldNames = {}): Field<T | undefined> {
  return { parser, default: undefined, doc, ...allNames(names) };
}

function allNames({ flag, flagAlias, envAlias }: FieldNames): Pick<Field<unknown>, keyof FieldNames> {
  return { flag, flagAlias, envAlias };
}
