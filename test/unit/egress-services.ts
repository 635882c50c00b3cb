import t from 'tap';
import { readCookies } from '../../src/services/cookie-jar.ts';
import { page } from '../../src/services/page.ts';
import { createProxyServices } from '../../src/services/proxies.ts';
import type { EgressBook } from '../../src/policy/egress/book.ts';

t.test('a long list is told in pages, and every name once', async (t) => {
  const all = Array.from({ length: 25 }, (_, i) => ({ id: `p${String(i).padStart(2, '0')}` })).reverse();
  const seen: string[] = [];
  for (let after: string | undefined; ;) {
    const found = page(all, { after, limit: 10 }, ({ id }) => id).map(({ id }) => id);
    seen.push(...found.items);
    after = found.rest.next;
    if (after === undefined) break;
  }
  t.same(seen, all.map(({ id }) => id).sort());
  const none = page(all, { after: undefined, limit: 10 }, ({ id }) => id).filter(() => false);
  t.same(none.items, []);
  t.equal(none.rest.next, 'p09', 'the list goes on behind a page of which nothing is wanted');
});

t.test('cookies come as a jar, or as a browser exports them', async (t) => {
  const jar = { version: 'x', cookies: [{ key: 'a', value: '1', domain: 'shop.example' }] };
  t.same(JSON.parse(readCookies(jar)), jar);
  const exported = [
    { name: 'a', value: '1', domain: '.shop.example', expirationDate: 1_900_000_000, secure: true },
    { name: 'b', value: '2', domain: 'shop.example', path: '/x', expires: -1 },
  ];
  t.match(JSON.parse(readCookies(exported)), {
    cookies: [
      {
        key: 'a',
        value: '1',
        domain: 'shop.example',
        path: '/',
        hostOnly: false,
        expires: '2030-03-17T17:46:40.000Z',
      },
      { key: 'b', value: '2', domain: 'shop.example', path: '/x', hostOnly: true, expires: undefined },
    ],
  });
  t.match(JSON.parse(readCookies([])), { cookies: [] });
  t.throws(() => readCookies({ a: 'c4nary' }), { code: 'INVALID', message: /^(?!.*c4nary)/ });
});

t.test(
  'a long list of proxies is dealt with in slices: the leader must come to renew its lock',
  async (t) => {
    const known = new Set(Array.from({ length: 9_990 }, (_, n) => `p${n}`));
    const sizes: number[] = [];
    let acted = 0;
    const act = (id: string): boolean => {
      acted += 1;
      return known.delete(id);
    };
    const book = { removeProxy: act, freeze: act, reset: act } as Partial<EgressBook> as EgressBook;
    const services = createProxyServices(
      {
        async change(apply) {
          acted = 0;
          const answer = apply(book, 1);
          sizes.push(acted);
          return answer;
        },
        look: (read) => read(book, 1),
      },
      { perHour: 1, perMinute: 1 },
    );
    const ids = Array.from({ length: 10_000 }, (_, n) => `p${n}`);
    const answer = (await services['proxies.rm']?.({ ids })) as { changed: string[]; unknown: string[] };
    t.same([answer.changed.length, answer.unknown.length], [9_990, 10]);
    t.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      10_000,
    );
    t.ok(Math.max(...sizes) <= 250, `${Math.max(...sizes)} at once`);
    await t.rejects(
      async () => services['proxies.rm']?.({ ids: ['p1', 'p2'] }),
      { code: 'INVALID' },
      'none is left',
    );
  },
);
