/** Dates as pages write them, as ISO text: a day alone stays a day, a time becomes UTC. */
import { compileDateFormat, type DateWords } from './date-format.ts';
import { createZone, type Zone } from '../policy/time-zone.ts';

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour?: number | undefined;
  readonly minute?: number | undefined;
  readonly second?: number | undefined;
  readonly ms?: number | undefined;
  /** Minutes east of UTC. */
  readonly offset?: number | undefined;
}

export type ReadDate = (text: string) => string | undefined;

const TEXT_MAX_CHARACTERS = 1_000;
const MONTHS = words('jan feb mar apr may jun jul aug sep oct nov dec');
/** Where the first three letters of other languages differ from those of English. */
const MORE_MONTHS: Readonly<Record<string, number>> = {
  ...numbered(words('янв фев мар апр мая июн июл авг сен окт ноя дек')),
  ...{ mär: 3, mrz: 3, mai: 5, okt: 10, dez: 12, fév: 2, avr: 4, juin: 6, juil: 7, aoû: 8, déc: 12 },
  ...{
    ene: 1,
    abr: 4,
    ago: 8,
    dic: 12,
    fev: 2,
    set: 9,
    out: 10,
    gen: 1,
    mag: 5,
    giu: 6,
    lug: 7,
    ott: 10,
    maj: 5,
    mei: 5,
  },
};
const TIME = String.raw`(?:[T\s,]+(?:at\s+)?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([ap]\.?m\.?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?`;
const ISO = new RegExp(String.raw`(?:^|[^\d])(\d{4})-(\d{1,2})-(\d{1,2})${TIME}(?!\d)`, 'i');
const YEAR_FIRST = new RegExp(String.raw`(?:^|[^\d])(\d{4})[/.](\d{1,2})[/.](\d{1,2})${TIME}`, 'i');
const NUMBERS = new RegExp(String.raw`(?:^|[^\d])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})${TIME}`, 'i');
const DAY_MONTH = new RegExp(
  String.raw`(?:^|[^\d])(\d{1,2})(?:st|nd|rd|th|\.|º)?(?:\s+(?:of|de))?[\s-]+(\p{L}{3,})\.?,?(?:\s+de)?[\s-]+(\d{4})${TIME}`,
  'iu',
);
const MONTH_DAY = new RegExp(String.raw`(\p{L}{3,})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})${TIME}`, 'iu');

/** `format`: as the site writes it (`DD.MM.YYYY HH:mm`); `zone`: where a time is from that does not say it. */
export function createDateReader(
  options: { format?: string | undefined; zone?: string | undefined } = {},
): ReadDate {
  const zone = createZone(options.zone ?? 'UTC');
  const inFormat = options.format === undefined ? undefined : compileDateFormat(options.format);
  return (given) => {
    const text = given.slice(0, TEXT_MAX_CHARACTERS);
    const parts = inFormat ? partsOf(inFormat(text)) : findParts(text);
    if (parts || inFormat) return parts && toIso(parts, zone);
    const epoch = /^\s*(\d{10}|\d{13})\s*$/.exec(text)?.[1];
    return epoch === undefined ? undefined : new Date(Number(epoch.padEnd(13, '0'))).toISOString();
  };
}

function partsOf(found: DateWords | undefined): Parts | undefined {
  if (!found) return undefined;
  const { year = '', name, month, day, hour, minute = '0', second, half, offset } = found;
  const number = name === undefined ? Number(month) : monthOf(name);
  if (number === undefined) return undefined;
  return withTime(fullYear(year), number, Number(day), [hour, minute, second, undefined, half, offset]);
}

function findParts(text: string): Parts | undefined {
  const iso = ISO.exec(text) ?? YEAR_FIRST.exec(text);
  if (iso) return withTime(Number(iso[1]), Number(iso[2]), Number(iso[3]), iso.slice(4));
  const numbers = NUMBERS.exec(text);
  if (numbers) {
    const [, first = '', mark, second = '', year = '', ...time] = numbers;
    // 03/04/2025 is a day of March in one country alone; with dots and dashes the day is always first.
    const isFirst = mark !== '/' || Number(first) > 12;
    const [day, month] = isFirst ? [first, second] : [second, first];
    return withTime(fullYear(year), Number(month), Number(day), time);
  }
  const named = DAY_MONTH.exec(text);
  if (named) {
    const month = monthOf(named[2] ?? '');
    if (month !== undefined) return withTime(Number(named[3]), month, Number(named[1]), named.slice(4));
  }
  const american = MONTH_DAY.exec(text);
  const month = american ? monthOf(american[1] ?? '') : undefined;
  return american && month !== undefined
    ? withTime(Number(american[3]), month, Number(american[2]), american.slice(4))
    : undefined;
}

function withTime(year: number, month: number, day: number, time: readonly (string | undefined)[]): Parts {
  const [hour, minute, second, fraction, half, offset] = time;
  if (hour === undefined) return { year, month, day };
  const isPm = half?.toLowerCase().startsWith('p') === true;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (isPm ? 12 : 0);
  const ms = fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * 1000);
  return {
    year,
    month,
    day,
    hour: hours,
    minute: Number(minute),
    second: Number(second ?? 0),
    ms,
    offset: readOffset(offset),
  };
}

function readOffset(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function toIso(
  { year, month, day, hour, minute = 0, second = 0, ms = 0, offset }: Parts,
  zone: Zone,
): string | undefined {
  const check = new Date(Date.UTC(year, month - 1, day));
  if (month < 1 || month > 12 || check.getUTCDate() !== day || check.getUTCFullYear() !== year)
    return undefined;
  if (hour === undefined) return check.toISOString().slice(0, 10);
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const at =
    offset === undefined
      ? zone.instant({ year, month, day, hour, minute, second })
      : Date.UTC(year, month - 1, day, hour, minute - offset, second);
  return new Date(at + ms).toISOString();
}

function monthOf(name: string): number | undefined {
  const folded = name.toLowerCase();
  const other = MORE_MONTHS[folded.slice(0, 4)] ?? MORE_MONTHS[folded.slice(0, 3)];
  if (other !== undefined) return other;
  const place = MONTHS.indexOf(folded.slice(0, 3));
  return place === -1 ? undefined : place + 1;
}

function fullYear(text: string): number {
  const year = Number(text);
  return text.length === 4 ? year : year + (year < 70 ? 2000 : 1900);
}

function words(text: string): string[] {
  return text.split(' ');
}

function numbered(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name, place) => [name, place + 1]));
}
