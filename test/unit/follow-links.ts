import t from 'tap';
import {
  createFollowPolicy,
  registrableDomain,
  type FollowRules,
  pageLimitsOf,
} from '../../src/policy/follow-links.ts';
import { compileUrlPattern } from '../../src/policy/url-pattern.ts';

const url = 'http://www.shop.example.com/list';

function follow(rules: FollowRules, links: readonly string[], more = {}) {
  const { follow: found, refused } = createFollowPolicy(rules)({
    ...{ page: { url }, depth: 0, links: links.map((link) => ({ url: link })) },
    ...more,
  });
  return { found: found.map((link) => link.url), refused };
}

t.test('patterns', async (t) => {
  const cases: [string, string, boolean][] = [
    ['/product/*', 'http://a.example/product/1', true],
    ['/product/*', 'http://a.example/x/product/1', false],
    ['*/product/*', 'http://a.example/x/product/1', true],
    ['/', 'http://a.example', true],
    ['http://a.example/*.html', 'http://a.example/b.html', true],
    ['http://a.example/*.html', 'http://a.example/.htm', false],
    ['*a*a', 'http://x.example/a', true],
    ['/a?x=1', 'http://x.example/a?x=1', true],
    ['/a?x=1', 'http://x.example/abx=1', false],
    ['re2:/(p|q)/[0-9]+$', 'http://x.example/q/12', true],
    ['re2:/(p|q)/[0-9]+$', 'http://x.example/q/12x', false],
  ];
  for (const [pattern, address, wanted] of cases)
    t.equal(compileUrlPattern(pattern)(address), wanted, `${pattern} ${address}`);
  for (const pattern of ['', 're2:(', 're2:(?=a)', 'x'.repeat(600)])
    t.throws(() => compileUrlPattern(pattern), { code: 'INVALID' }, pattern.slice(0, 20));
});

t.test('include, exclude, and each page once', async (t) => {
  const links = [
    url,
    `${url}#top`,
    'http://www.shop.example.com/p/1',
    'http://www.shop.example.com/p/1#x',
    'http://www.shop.example.com/p/2?print=1',
    'http://www.shop.example.com/q',
    'mailto:a@b.example',
    'http://a b/',
  ];
  t.same(follow({ include: ['/p/*'], exclude: ['*print=1*'] }, links), {
    found: ['http://www.shop.example.com/p/1'],
    refused: { repeated: 3, excluded: 2, invalid: 2 },
  });
});

t.test('within a host, a site, or anywhere', async (t) => {
  const links = ['http://www.shop.example.com/a', 'https://blog.example.com/', 'http://other.example/'];
  t.equal(follow({ within: 'host' }, links).found.length, 1);
  t.equal(follow({}, links).found.length, 2, 'the site is the default');
  t.equal(follow({ within: 'anywhere' }, links).found.length, 3);
  t.equal(registrableDomain('a.b.co.uk'), 'b.co.uk');
  t.equal(registrableDomain('127.0.0.1:80'), '127.0.0.1:80');
  t.equal(registrableDomain('localhost:80'), 'localhost:80');
  t.equal(registrableDomain('[::1]'), '[::1]');
});

t.test('tracking parameters are dropped by option, and the link is kept as it was', async (t) => {
  const link = 'http://www.shop.example.com/p?utm_source=x&b=2&a=1';
  const tracked = { url: link };
  const other = { url: 'http://www.shop.example.com/q?b&a' };
  const plain = createFollowPolicy({})({ page: { url }, depth: 0, links: [tracked] });
  t.same(plain.follow, [{ link: tracked, url: link }]);
  const dropped = createFollowPolicy({ dropTracking: true })({
    page: { url: `${url}?utm_source=x` },
    depth: 0,
    links: [tracked, { url: `${link}&gclid=3` }, { url: `${url}?gclid=3` }, other],
  });
  t.same(dropped.follow, [
    { link: tracked, url: 'http://www.shop.example.com/p?a=1&b=2', raw: link },
    { link: other, url: other.url },
  ]);
  t.same(dropped.refused, { repeated: 2 });
});

t.test('tasks of one address that are not one task are all followed', async (t) => {
  const page = { url, key: 'monday' };
  const links = [
    { url, key: 'monday' },
    { url, key: 'tuesday' },
    { url },
    { url: `${url}#top` },
    { url, method: 'get' },
    { url, method: 'POST' },
    { url, method: 'POST', body: { page: 1 } },
    { url, method: 'post', body: { page: 1 } },
    { url, method: 'POST', body: { page: 2 } },
    { url: `${url}/2`, key: 'tuesday' },
    { url, method: 'no word' },
    { url: 'http://elsewhere.example/', key: 'there' },
  ];
  const { follow: found, refused } = createFollowPolicy({})({ page, depth: 0, links });
  t.same(
    found.map(({ link }) => link),
    [links[1], links[2], links[5], links[6], links[8]],
  );
  t.same(refused, { repeated: 5, invalid: 1, outside: 1 });
});

t.test('depth, and budgets, which somebody else keeps to', async (t) => {
  const links = [1, 2, 3, 4].map((page) => `http://h${page % 2}.example.com/${page}`);
  t.same(follow({ depth: 2 }, links, { depth: 2 }), { found: [], refused: { depth: 4 } });
  t.equal(follow({ depth: 2 }, links, { depth: 1 }).found.length, 4);
  t.same(follow({ depth: 0 }, links).found, []);
  t.same(follow({ pagesPerRun: 1, pagesPerHost: 1 }, links).found, links);
  t.equal(pageLimitsOf({ depth: 2 }), undefined);
  t.same(pageLimitsOf({ depth: 2, pagesPerHost: 0 }), { pagesPerHost: 0 });
});
