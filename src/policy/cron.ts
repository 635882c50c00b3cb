/** Cron patterns as nats-server reads them: second, minute, hour, day of month, month, day of week. */
export interface CronField {
  readonly values: readonly number[]; // ascending
  /** It says nothing about its part of the time. */
  readonly any: boolean;
}

export interface Cron {
  readonly pattern: string; // always six fields
  readonly second: CronField;
  readonly minute: CronField;
  readonly hour: CronField;
  readonly day: CronField;
  readonly month: CronField;
  readonly weekday: CronField;
}

/** `problem` completes a sentence that begins with the name of the setting. */
export type ParsedCron =
  { readonly ok: true; readonly cron: Cron } | { readonly ok: false; readonly problem: string };

interface Bounds {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of the values, from `min` on. */
  readonly words: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const SECOND: Bounds = { name: 'second', min: 0, max: 59, words: [] };
const MINUTE: Bounds = { name: 'minute', min: 0, max: 59, words: [] };
const HOUR: Bounds = { name: 'hour', min: 0, max: 23, words: [] };
const DAY: Bounds = { name: 'day of month', min: 1, max: 31, words: [] };
const MONTH: Bounds = { name: 'month', min: 1, max: 12, words: MONTHS };
const WEEKDAY: Bounds = { name: 'day of week', min: 0, max: 6, words: WEEKDAYS };

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 0 1 1 *'],
  ['@annually', '0 0 0 1 1 *'],
  ['@monthly', '0 0 0 1 * *'],
  ['@weekly', '0 0 0 * * 0'],
  ['@daily', '0 0 0 * * *'],
  ['@midnight', '0 0 0 * * *'],
  ['@hourly', '0 0 * * * *'],
]);

const PATTERN_MAX_CHARACTERS = 256;
const NOTHING: CronField = { values: [], any: false };

export function parseCron(text: string): ParsedCron {
  const given = text.trim();
  if (given.length > PATTERN_MAX_CHARACTERS)
    return { ok: false, problem: `takes at most ${PATTERN_MAX_CHARACTERS} characters` };
  const pattern = SHORTHANDS.get(given) ?? given;
  if (pattern.startsWith('@')) {
    const known = [...SHORTHANDS.keys()].join(', ');
    return { ok: false, problem: `takes ${known} or fields, not ${given}; for an interval write every: 1h` };
  }
  const texts = pattern.split(/\s+/);
  if (texts.length === 5) texts.unshift('0');
  if (texts.length !== 6)
    return { ok: false, problem: `takes 5 fields, or 6 with the seconds first, not ${texts.length}` };
  return parseFields(texts);
}

function parseFields(texts: readonly string[]): ParsedCron {
  const problems: string[] = [];
  const read = (position: number, bounds: Bounds): CronField => {
    const field = parseField(texts[position] ?? '', bounds);
    if (typeof field !== 'string') return field;
    problems.push(field);
    return NOTHING;
  };
  const cron: Cron = {
    pattern: texts.join(' '),
    second: read(0, SECOND),
    minute: read(1, MINUTE),
    hour: read(2, HOUR),
    day: read(3, DAY),
    month: read(4, MONTH),
    weekday: read(5, WEEKDAY),
  };
  return problems.length === 0 ? { ok: true, cron } : { ok: false, problem: problems.join('; ') };
}

/** A list of ranges, or what is wrong with it. */
function parseField(text: string, bounds: Bounds): CronField | string {
  const values = new Set<number>();
  let any = false;
  for (const part of text.split(',')) {
    const range = parseRange(part, bounds);
    if (typeof range === 'string') return `has the ${bounds.name} ${JSON.stringify(text)}: ${range}`;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
    any ||= range.any;
  }
  return { values: [...values].sort((a, b) => a - b), any };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly any: boolean;
}

/** `*`, `?`, `5`, `mon`, `1-5`, each with `/2` behind it; `5/2` is `5-max/2`. */
function parseRange(text: string, bounds: Bounds): Range | string {
  const { min, max } = bounds;
  const [, whole, low, high, stepText] =
    /^(?:([*?])|([A-Za-z]+|\d+)(?:-([A-Za-z]+|\d+))?)(?:\/(\d+))?$/.exec(text) ?? [];
  if (whole === undefined && low === undefined)
    return `${JSON.stringify(text)} is neither a value nor a range`;
  const step = Number(stepText ?? 1);
  if (step < 1 || step > max - min + 1) return `a step is a number from 1 to ${max - min + 1}`;
  // The server takes a step of 1 for no step at all.
  if (low === undefined) return { from: min, to: max, step, any: step === 1 };

  const from = valueOf(low, bounds);
  const to = high === undefined ? (stepText === undefined ? from : max) : valueOf(high, bounds);
  if (from === undefined || to === undefined) return `it takes ${describe(bounds)}`;
  if (from > to) return `${JSON.stringify(text)} ends before it begins`;
  return { from, to, step, any: false };
}

function valueOf(text: string, { min, max, words }: Bounds): number | undefined {
  const word = words.indexOf(text.toLowerCase());
  const value = word >= 0 ? word + min : Number(text);
  return value >= min && value <= max ? value : undefined; // not for NaN either
}

function describe({ min, max, words }: Bounds): string {
  const [first] = words;
  return first === undefined ? `${min} to ${max}` : `${min} to ${max}, or ${first} to ${words.at(-1) ?? ''}`;
}
