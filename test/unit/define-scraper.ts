/** `defineScraper`: its types are the compiler's to check, the rest is checked here. */
import t from 'tap';
import * as v from 'valibot';
import { defineScraper } from '../../src/index.ts';
import type { Scraper, StandardSchema } from '../../src/index.ts';
import { quietLog } from '../kit/nats-server.ts';

type IsAny<T> = 0 extends 1 & T ? true : false;
/** Compiles only if both are the same type, and what was inferred is not `any`, which would fit everywhere. */
type Same<A, B> = IsAny<B> extends true ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const isSame = <A>() => ({ as: <B>(proof: Same<A, B>) => proof });

const priced = v.object({ page: v.number(), currency: v.optional(v.string(), 'USD') });
const item = v.object({ name: v.string(), price: v.number() });

const typed = defineScraper({
  name: 'typed',
  timeout: '5m',
  input: priced,
  item,
  setup: async () => ({ client: 7 }),
  async run({ input, emit, enqueue, shared }) {
    isSame<{ page: number; currency: string }>().as<typeof input>(true);
    isSame<{ client: number }>().as<typeof shared>(true);
    emit({ name: 'a', price: input.page });
    emit('kind', { name: 'a', price: shared.client });
    // @ts-expect-error an item needs its price
    emit({ name: 'a' });
    // @ts-expect-error and a price is a number
    emit('kind', { name: 'a', price: '1' });
    enqueue(typed, { page: input.page + 1 });
    enqueue(typed, [{ page: 1 }, { page: 2, currency: 'EUR' }]);
    // @ts-expect-error the other stage wants a page
    enqueue(typed, { currency: 'EUR' });
    enqueue('anything', { goes: true });
    enqueue('https://site.test/', { priority: 3 });
    enqueue([new URL('https://site.test/'), { url: 'https://site.test/', scraper: 'other', key: 'k' }]);
  },
  teardown: (shared) => void shared.client.toFixed(),
});

const atOnce = defineScraper({
  name: 'at-once',
  setup: () => new Map([['a', 1]]),
  async run({ shared }) {
    isSame<Map<string, number>>().as<typeof shared>(true);
    return shared.size;
  },
  teardown: (shared) => shared.clear(),
});

const plain: Scraper = defineScraper({
  name: 'plain',
  async run({ input, shared, emit }) {
    isSame<Readonly<Record<string, unknown>>>().as<typeof input>(true);
    isSame<undefined>().as<typeof shared>(true);
    emit({ input, shared });
    emit('kind', 2);
  },
});

/** As another library would do it. */
const handmade: StandardSchema<{ a: string }, { a: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => ({ value: { a: Number((value as { a: string }).a) } }),
  },
};
const transformed = defineScraper({
  name: 'transformed',
  input: handmade,
  async run({ input }) {
    isSame<{ a: number }>().as<typeof input>(true);
    return input.a.toFixed();
  },
});

t.test('what comes out is a scraper', async (t) => {
  t.match(typed, { name: 'typed', timeoutMs: 300_000, input: priced, item });
  t.notOk('timeout' in typed, 'a worker reads milliseconds');
  t.equal(plain.timeoutMs, undefined);
  t.same(atOnce.setup?.({ log: quietLog }), new Map([['a', 1]]));
  t.equal(transformed.input, handmade);
});

t.test('a timeout is a duration', async (t) => {
  const of = (timeout: string | number): unknown =>
    defineScraper({ name: 'x', timeout, run: async () => undefined }).timeoutMs;
  t.equal(of('90s'), 90_000);
  t.equal(of('1.5h'), 5_400_000);
  t.equal(of(250), 250);
  for (const wrong of ['', '5 minutes', '-1s', '0', 0, -1, NaN, Infinity])
    t.throws(() => of(wrong), { code: 'INVALID', message: /timeout must be a duration/ }, String(wrong));
});
