/** The goods of the demo site: what is true about each of them, however its page writes it. */
import { seeded } from './seeded.ts';

export interface Product {
  readonly id: number;
  readonly name: string;
  readonly brand: string;
  readonly category: string;
  readonly cents: number; // US dollars
  readonly inStock: boolean;
  readonly rating: number; // 1 to 5, by halves
  readonly reviewCount: number;
  readonly releasedAt: string; // YYYY-MM-DD
  readonly weightGrams: number;
}

export interface Products {
  readonly seed: number;
  readonly count: number;
  /** Undefined when there is no such product; the first is 1. */
  find(id: number): Product | undefined;
}

const KINDS = ['Lamp', 'Kettle', 'Chair', 'Rucksack', 'Radio', 'Notebook', 'Clock', 'Scarf'] as const;
const TRAITS = [
  'Foldable',
  'Quiet',
  'Nordic',
  'Café',
  'Compact',
  'Hand-made',
  'Salt & Pepper',
  'Naïve',
] as const;
const BRANDS = ['Ærø', 'Müller & Söhne', 'Tanaka', 'O’Neil', 'Kovač', 'Plain'] as const;
export const CATEGORIES = ['home', 'kitchen', 'travel', 'office'] as const;

export function createProducts({ seed, count }: { seed: number; count: number }): Products {
  return {
    seed,
    count,
    find: (id) => (Number.isSafeInteger(id) && id >= 1 && id <= count ? makeProduct(seed, id) : undefined),
  };
}

function makeProduct(seed: number, id: number): Product {
  const random = seeded(seed, 'product', id);
  return {
    id,
    name: `${random.pick(TRAITS)} ${random.pick(KINDS)} ${id}`,
    brand: random.pick(BRANDS),
    category: random.pick(CATEGORIES),
    cents: random.int(99, 249_999),
    inStock: random.chance(0.85),
    rating: random.int(2, 10) / 2,
    reviewCount: random.int(0, 5000),
    releasedAt: new Date(Date.UTC(2015, 0, 1 + random.int(0, 4000))).toISOString().slice(0, 10),
    weightGrams: random.int(20, 20_000),
  };
}

/** One price as shops of several countries write it. */
export function writePrices(
  cents: number,
): Readonly<Record<'us' | 'de' | 'fr' | 'ch' | 'jp' | 'plain', string>> {
  const part = String(cents % 100).padStart(2, '0');
  const grouped = (mark: string): string => String(Math.floor(cents / 100)).replace(/\B(?=(\d{3})+$)/g, mark);
  return {
    us: `$${grouped(',')}.${part}`,
    de: `${grouped('.')},${part}&nbsp;&euro;`,
    fr: `${grouped('&nbsp;')},${part} €`,
    ch: `CHF ${grouped('’')}.${part}`,
    jp: `¥${Math.round(cents / 100)}`,
    plain: `${Math.floor(cents / 100)}.${part}`,
  };
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

/** One day as people write it. */
export function writeDates(day: string): Readonly<Record<'iso' | 'us' | 'de' | 'long', string>> {
  const [year = '', month = '', date = ''] = day.split('-');
  const name = MONTHS[Number(month) - 1] ?? '';
  return {
    iso: day,
    us: `${month}/${date}/${year}`,
    de: `${date}.${month}.${year}`,
    long: `${Number(date)} ${name} ${year}`,
  };
}
