/** Reads what yargs parsed: all options are text there, so that one mistake has one wording. */
import { Failure } from '../domain/failure.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** The text of an option or argument; undefined when it was not given. */
export function readText(argv: Arguments, name: string): string | undefined {
  const value = argv[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw new Failure('INVALID', `--${name} takes one value, not ${value.length}`);
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  if (text === '') throw new Failure('INVALID', `--${name} needs a value`);
  return text;
}

/** All texts of an option that may be repeated. */
export function readTexts(argv: Arguments, name: string): string[] {
  const value = argv[name];
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

export function requireText(argv: Arguments, name: string, hint: string): string {
  const text = readText(argv, name);
  if (text === undefined) throw new Failure('INVALID', `${name} is missing`, { hint });
  return text;
}

export function readWhole(
  argv: Arguments,
  name: string,
  { min, max }: { min: number; max: number },
): number | undefined {
  const text = readText(argv, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new Failure('INVALID', `--${name} must be a whole number from ${min} to ${max}, not ${text}`);
}

export function readPriority(argv: Arguments): number | undefined {
  return readWhole(argv, 'priority', { min: 0, max: 9 });
}

const MS_PER_UNIT: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `1h30m`, `7d` → milliseconds. A number without a unit has too many readings. */
export function parseAge(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d{1,9})([smhd])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (MS_PER_UNIT[unit ?? ''] ?? 0), 0);
}

export function readAge(argv: Arguments, name: string): number | undefined {
  const text = readText(argv, name);
  if (text === undefined) return undefined;
  const ms = parseAge(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new Failure('INVALID', `--${name} must be an age such as 90s, 15m, 1h30m or 7d, not ${text}`);
}

/** An object without what is undefined: absent and undefined are the same to JSON, not to a person who reads it. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
