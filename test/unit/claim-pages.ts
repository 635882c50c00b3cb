/** Which pages a budget has room for. */
import t from 'tap';
import { decideClaims, type Spent } from '../../src/policy/claim-pages.ts';
import { formatBudget, parseBudget } from '../../src/wire/submission-fields.ts';

const page = (id: string, host = 'a') => ({ id, host });
const spent = (given: Partial<Spent> = {}): Spent => ({ run: 0, host: () => 0, has: () => false, ...given });
const idsOf = (...args: Parameters<typeof decideClaims>): string =>
  decideClaims(...args)
    .granted.map(({ id }) => id)
    .join('');

t.test('as many as there is room for, in their order', async (t) => {
  const pages = [page('1'), page('2', 'b'), page('3'), page('4', 'b'), page('5')];
  t.equal(idsOf(pages, {}, spent()), '12345');
  t.equal(idsOf(pages, { pagesPerRun: 3 }, spent()), '123');
  t.equal(idsOf(pages, { pagesPerRun: 3 }, spent({ run: 2 })), '1');
  t.equal(idsOf(pages, { pagesPerRun: 3 }, spent({ run: 9 })), '');
  t.equal(idsOf(pages, { pagesPerRun: 0 }, spent()), '');
  t.equal(idsOf(pages, { pagesPerHost: 1 }, spent()), '12');
  t.equal(idsOf(pages, { pagesPerHost: 2 }, spent({ host: (host) => (host === 'a' ? 2 : 1) })), '2');
  t.equal(idsOf(pages, { pagesPerRun: 2, pagesPerHost: 1 }, spent({ run: 1 })), '1');
});

t.test('a page takes one place, however often it is asked for', async (t) => {
  const pages = [page('1'), page('1'), page('2'), page('3')];
  t.equal(idsOf(pages, { pagesPerRun: 2 }, spent()), '12');
  t.equal(idsOf(pages, { pagesPerRun: 2 }, spent({ run: 1, has: (id) => id === '1' })), '2');
});

t.test('the sums are those with what is granted', async (t) => {
  const pages = [page('1'), page('2', 'b'), page('3')];
  const { run, hosts } = decideClaims(pages, { pagesPerHost: 6 }, spent({ run: 8, host: () => 5 }));
  t.equal(run, 10);
  t.same(
    [...hosts],
    [
      ['a', 6],
      ['b', 6],
    ],
  );
});

t.test('a budget as a header', async (t) => {
  for (const budget of [
    { scope: 'shop' },
    { scope: 'shop', pagesPerRun: 10 },
    { scope: 'shop', pagesPerHost: 0 },
    { scope: 'shop', pagesPerRun: 1, pagesPerHost: 2 },
  ])
    t.same(parseBudget(formatBudget(budget)), budget);
  for (const text of ['', 'shop', 'shop 1', 'a.b 1 1', 'shop -1 1', 'shop 1 x', 'shop 1 1 1'])
    t.throws(() => parseBudget(text), { code: 'INVALID' }, text);
});
