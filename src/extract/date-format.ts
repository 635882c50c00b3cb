/** A date format such as `DD.MM.YYYY HH:mm` as a reader of parts. */
import { Failure } from '../domain/failure.ts';

const TOKEN = /YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|A|Z/g;
const FORMAT_MAX_CHARACTERS = 64;

const PATTERNS: Readonly<Record<string, string>> = {
  YYYY: String.raw`(?<year>\d{4})`,
  YY: String.raw`(?<year>\d{2})`,
  MMMM: String.raw`(?<name>\p{L}+)\.?`,
  MMM: String.raw`(?<name>\p{L}+)\.?`,
  MM: String.raw`(?<month>\d{2})`,
  M: String.raw`(?<month>\d{1,2})`,
  DD: String.raw`(?<day>\d{2})`,
  D: String.raw`(?<day>\d{1,2})`,
  HH: String.raw`(?<hour>\d{2})`,
  H: String.raw`(?<hour>\d{1,2})`,
  hh: String.raw`(?<hour>\d{2})`,
  h: String.raw`(?<hour>\d{1,2})`,
  mm: String.raw`(?<minute>\d{2})`,
  ss: String.raw`(?<second>\d{2})`,
  A: String.raw`(?<half>[ap]\.?m\.?)`,
  Z: String.raw`(?<offset>Z|[+-]\d{2}:?\d{2})`,
};

export type DateWords = Partial<
  Record<'year' | 'name' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'half' | 'offset', string>
>;

/** Throws `INVALID` for a format without year, month and day, or with a part twice. */
export function compileDateFormat(format: string): (text: string) => DateWords | undefined {
  const literal = (text: string): string =>
    text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`).replace(/\s+/g, String.raw`\s+`);
  if (format.length > FORMAT_MAX_CHARACTERS)
    throw new Failure('INVALID', `the date format is longer than ${FORMAT_MAX_CHARACTERS} characters`);
  const tokens: string[] = format.match(TOKEN) ?? [];
  const kinds = tokens.map((token) => /<(\w+)>/.exec(PATTERNS[token] ?? '')?.[1]);
  const has = (...names: string[]): boolean => names.some((name) => kinds.includes(name));
  if (new Set(kinds).size < kinds.length || !has('year') || !has('month', 'name') || !has('day')) {
    throw new Failure('INVALID', 'the date format must have a year, a month and a day, each once', {
      hint: 'Such as DD.MM.YYYY, D MMMM YYYY HH:mm or YYYYMMDD.',
    });
  }
  let source = '';
  let from = 0;
  for (const { 0: token, index } of format.matchAll(TOKEN)) {
    source += literal(format.slice(from, index)) + (PATTERNS[token] ?? '');
    from = index + token.length;
  }
  const pattern = new RegExp(source + literal(format.slice(from)), 'iu');
  return (text) => pattern.exec(text)?.groups;
}
