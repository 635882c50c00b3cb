/** Numbers and prices as people of several countries write them. */

export interface Price {
  readonly amount: number;
  /** As ISO 4217 writes it; null: the text does not say. */
  readonly currency: string | null;
}

const DIGITS = /[-+−]?\s?\d(?:[\d.,'’٫٬\s]*\d)?/u;
const PLAIN_MAX_DIGITS = 30;

/** The first number in a text; undefined: there is none. */
export function readNumber(text: string): number | undefined {
  const found = DIGITS.exec(text.slice(0, 10_000));
  if (!found) return undefined;
  const exponent = /^e([-+]?\d{1,3})\b/i.exec(text.slice(found.index + found[0].length));
  const plain = toPlain(found[0]);
  if (plain === undefined) return undefined;
  const value = Number(exponent?.[1] === undefined ? plain : `${plain}e${exponent[1]}`);
  return Number.isFinite(value) ? value : undefined;
}

export function readInteger(text: string): number | undefined {
  const value = readNumber(text);
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}

/**
 * `1.299,00`, `1,299.00`, `1 299`, `1'299.50`: the last mark is the decimal one if two kinds are there, if it stands
 * once and not before exactly three digits; otherwise marks only group.
 */
function toPlain(written: string): string | undefined {
  const negative = /^[-−]/.test(written);
  const text = written.replace(/[٫]/g, ',').replace(/[^\d.,]/g, '');
  const point = text.lastIndexOf('.');
  const comma = text.lastIndexOf(',');
  const last = Math.max(point, comma);
  const decimal = last === -1 ? -1 : decimalPlace(text, point, comma, last);
  const whole = (decimal === -1 ? text : text.slice(0, decimal)).replace(/[.,]/g, '');
  const part = decimal === -1 ? '' : text.slice(decimal + 1);
  if (whole.length > PLAIN_MAX_DIGITS) return undefined;
  return `${negative ? '-' : ''}${whole || '0'}${part === '' ? '' : `.${part}`}`;
}

function decimalPlace(text: string, point: number, comma: number, last: number): number {
  if (point !== -1 && comma !== -1) return last;
  const mark = text.charAt(last);
  if (text.indexOf(mark) !== last) return -1;
  // 1.299 is a thousand and some in a price, but 0.299 is not, and nothing groups after four digits.
  return text.length - last - 1 === 3 && last <= 3 && !/^0/.test(text) ? -1 : last;
}

/** What a sign means that several countries use, unless the template says otherwise. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/US\s?\$|\$\s?US/i, 'USD'],
  [/C(?:A|AD)?\s?\$|\$\s?CAD?/i, 'CAD'],
  [/A(?:U|UD)?\s?\$/i, 'AUD'],
  [/NZ\s?\$/i, 'NZD'],
  [/HK\s?\$/i, 'HKD'],
  [/S\s?\$/, 'SGD'],
  [/R\s?\$/, 'BRL'],
  [/€|\beuros?\b/i, 'EUR'],
  [/£/, 'GBP'],
  [/₹|\bRs\.?(?=[\s\d])/, 'INR'],
  [/₽|\bруб/i, 'RUB'],
  [/₴|\bгрн/i, 'UAH'],
  [/₺|\bTL\b/, 'TRY'],
  [/₩/, 'KRW'],
  [/₪/, 'ILS'],
  [/₫/, 'VND'],
  [/₱/, 'PHP'],
  [/฿/, 'THB'],
  [/zł/i, 'PLN'],
  [/Kč/i, 'CZK'],
  [/\bFt\b/, 'HUF'],
  [/\blei\b/i, 'RON'],
  [/\bFr\.?(?=[\s\d]|$)/, 'CHF'],
];
const AMBIGUOUS: readonly (readonly [RegExp, string])[] = [
  [/\$/, 'USD'],
  [/[¥￥円元]/, 'JPY'],
  [/\bkr\b\.?|:-/i, 'SEK'],
];
const CODES =
  /(?:^|[^A-Za-z])(AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KRW|KZT|MXN|MYR|NOK|NZD|PEN|PHP|PKR|PLN|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR)(?![A-Za-z])/;

/** `fallback`: what a sign of several countries ($, ¥, kr) means, and what a text without any is in. */
export function readPrice(given: string, fallback?: string): Price | undefined {
  const text = given.slice(0, 1_000);
  // 1 299:- and 12,– are whole amounts.
  const amount = readNumber(text);
  if (amount === undefined) return undefined;
  return { amount, currency: currencyOf(text, fallback) };
}

function currencyOf(text: string, fallback: string | undefined): string | null {
  const code = CODES.exec(text)?.[1];
  if (code !== undefined) return code;
  for (const [sign, currency] of SIGNS) if (sign.test(text)) return currency;
  for (const [sign, currency] of AMBIGUOUS) if (sign.test(text)) return fallback ?? currency;
  return fallback ?? null;
}
