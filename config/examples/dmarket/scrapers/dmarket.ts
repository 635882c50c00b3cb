/**
 * A market in two stages. `dmarket` reads all items of a game, page by page, with signed requests, and hands each page on
 * as raw items; `dmarket-process` makes of them what is stored. Both queues are durable: whatever stops in between goes
 * on where it was, and nothing is done twice.
 */
import { createHmac } from 'node:crypto';
import { defineScraper, Failure } from 'trawl';
import * as v from 'valibot';

/** The demo site's, unless the environment names another one. */
const MARKET = process.env['DMARKET_URL'] ?? 'http://127.0.0.1:8088/api/signed/items';

const rawItem = v.looseObject({ itemId: v.string() });
type RawItem = v.InferOutput<typeof rawItem>;

const marketPage = v.object({ objects: v.array(rawItem), cursor: v.string() });

const parsing = defineScraper({
  name: 'dmarket',
  mode: 'distributed',
  timeout: '1h',
  robots: false, // an API for its customers
  // One parser per game at a time, whoever was asked: see withLock below.
  input: v.object({
    game: v.pipe(v.string(), v.minLength(1)),
    currency: v.optional(v.string(), 'USD'),
    itemsPerPage: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 100),
    requestDelayMs: v.optional(v.pipe(v.number(), v.minValue(0)), 1000),
  }),
  // Once per worker. The keys are in the environment of the workers, and in no task, record or log.
  setup: () => ({ key: fromEnvironment('DMARKET_API_KEY'), secret: fromEnvironment('DMARKET_API_SECRET') }),
  async run({ input, json, enqueue, progress, withLock, shared }) {
    const { game, currency, itemsPerPage, requestDelayMs } = input;
    return withLock(`dmarket-${game}`, async () => {
      let cursor = '';
      let pages = 0;
      let items = 0;
      do {
        const url = new URL(MARKET);
        url.search = new URLSearchParams({ game, currency, limit: String(itemsPerPage), cursor }).toString();
        const answer = await json(url, { headers: sign('GET', url, shared), delayMs: requestDelayMs });
        const page = v.parse(marketPage, answer);
        if (page.objects.length > 0) enqueue('dmarket-process', { game, currency, items: page.objects });
        cursor = page.cursor;
        pages += 1;
        items += page.objects.length;
        progress(); // a game with many pages takes longer than a lease
      } while (cursor !== '');
      return { game, pages, items };
    });
  },
});

const processing = defineScraper({
  name: 'dmarket-process',
  mode: 'distributed',
  input: v.object({ game: v.string(), currency: v.string(), items: v.array(rawItem) }),
  // What does not fit is kept apart and counted (published, total, errors); the others are stored.
  item: v.object({
    id: v.string(),
    game: v.string(),
    title: v.string(),
    quality: v.string(),
    currency: v.string(),
    price: v.pipe(v.number(), v.minValue(0.01)),
    listedAt: v.string(),
  }),
  async run({ input: { game, currency, items }, emit }) {
    for (const raw of items) emit('item', readItem(raw, { game, currency }));
  },
});

export const scrapers = [parsing, processing];

interface Processed {
  id: string;
  game: string;
  title: string;
  quality: string;
  currency: string;
  price: number;
  listedAt: string;
}

/** Prices are cents, as text. */
function readItem(raw: RawItem, { game, currency }: { game: string; currency: string }): Processed {
  const { title, quality, price, createdAt } = raw as {
    title?: string;
    quality?: string;
    price?: Record<string, string>;
    createdAt?: number;
  };
  const cents = price?.[currency];
  return {
    id: raw.itemId,
    game,
    currency,
    title: title ?? '',
    quality: quality ?? '',
    price: cents === undefined || cents === '' ? NaN : Number(cents) / 100,
    listedAt: new Date((createdAt ?? 0) * 1000).toISOString(),
  };
}

/** What was asked for, and when, under the secret that only we and the market know. */
function sign(
  method: string,
  { pathname, search }: URL,
  { key, secret }: { key: string; secret: string },
): Record<string, string> {
  const date = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${method}${pathname}${search}${date}`).digest('hex');
  return { 'x-api-key': key, 'x-sign-date': date, 'x-request-sign': signature };
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new Failure('INVALID', `${name} is not set in the environment of the worker`);
}
