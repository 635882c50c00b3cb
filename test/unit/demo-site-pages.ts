/** What the demo site serves is the same for the same seed, and true. */
import t from 'tap';
import { X509Certificate } from 'node:crypto';
import { CERTIFICATE_FAULTS, makeCertificate } from '../../src/demo-site/certificate.ts';
import { CHARSET_SAMPLES, encodeText, isCharset } from '../../src/demo-site/encode-text.ts';
import { GAMES, listItems } from '../../src/demo-site/items.ts';
import { countPages, renderListing, renderSitemap } from '../../src/demo-site/listing-pages.ts';
import { findProfile, listFollowers, listStories } from '../../src/demo-site/people.ts';
import { renderProductPage } from '../../src/demo-site/product-page.ts';
import { createProducts, writeDates, writePrices } from '../../src/demo-site/products.ts';
import { decideTreatment } from '../../src/demo-site/proxy-behaviour.ts';
import { renderRobots } from '../../src/demo-site/robots.ts';
import { createSessions, readCookie } from '../../src/demo-site/sessions.ts';
import { API_KEY, findSignatureProblem, signRequest } from '../../src/demo-site/signature.ts';

const products = createProducts({ seed: 1, count: 45 });

function page(seed: number, id: number): string {
  const world = createProducts({ seed, count: 45 });
  const product = world.find(id);
  return product ? renderProductPage(world, product) : '';
}

t.test('a product page is about 10 KB, has 20 reviews, and depends on the seed alone', async (t) => {
  t.equal(page(1, 3), page(1, 3));
  t.not(page(1, 3), page(2, 3));
  for (const id of [1, 20, 45]) {
    const bytes = Buffer.byteLength(page(1, id));
    t.ok(bytes > 8_000 && bytes < 13_000, `${bytes} bytes`);
    t.equal(page(1, id).match(/<li class="review"/g)?.length, 20);
  }
  const product = products.find(3);
  t.match(page(1, 3), `data-price="${writePrices(product?.cents ?? 0).plain}"`);
  t.same([products.find(0), products.find(46), products.find(1.5)], [undefined, undefined, undefined]);
});

t.test('prices and dates in the spellings of the world', async (t) => {
  t.same(writePrices(123_456_705), {
    us: '$1,234,567.05',
    de: '1.234.567,05&nbsp;&euro;',
    fr: '1&nbsp;234&nbsp;567,05 €',
    ch: 'CHF 1’234’567.05',
    jp: '¥1234567',
    plain: '1234567.05',
  });
  t.equal(writePrices(99).us, '$0.99');
  t.same(writeDates('2024-12-05'), {
    iso: '2024-12-05',
    us: '12/05/2024',
    de: '05.12.2024',
    long: '5 December 2024',
  });
});

t.test('the catalogue leads to every product, once', async (t) => {
  t.equal(countPages(products), 3);
  const ids: number[] = [];
  for (let number = 1; number <= 3; number += 1) {
    const html = renderListing(products, number) ?? '';
    ids.push(
      ...[...html.matchAll(/<li class="product"><a href="\/product\/(\d+)"/g)].map((m) => Number(m[1])),
    );
    t.equal(html.includes('rel="next"'), number < 3);
  }
  t.same(
    ids,
    Array.from({ length: 45 }, (_, index) => index + 1),
  );
  t.same([renderListing(products, 0), renderListing(products, 4)], [undefined, undefined]);
  t.equal(renderSitemap(products, 'http://x').match(/<loc>http:\/\/x\/product\/\d+<\/loc>/g)?.length, 45);
});

t.test('robots.txt as it was asked for', async (t) => {
  t.equal(
    renderRobots({ disallow: ['/a', '/b'], crawlDelayS: 2, agent: 'trawl' }, 'http://x'),
    '# Be kind.\nUser-agent: trawl\nDisallow: /a\nDisallow: /b\nCrawl-delay: 2\n\nSitemap: http://x/sitemap.xml\n',
  );
});

t.test('cursors lead through all items of a game and no other', async (t) => {
  for (const [game, count] of Object.entries(GAMES)) {
    const ids = new Set<string>();
    let cursor: string | undefined = '';
    let pages = 0;
    do {
      const found = listItems(1, { game, cursor, limit: 100 });
      for (const { itemId } of found?.objects ?? []) ids.add(itemId);
      cursor = found?.cursor;
      pages += 1;
    } while (cursor);
    t.equal(ids.size, count);
    t.equal(pages, Math.ceil(count / 100));
  }
  const { cursor = '' } = listItems(1, { game: 'cs', cursor: '', limit: 100 }) ?? {};
  t.equal(listItems(1, { game: 'dota', cursor, limit: 100 }), undefined, "another game's cursor");
  t.equal(listItems(1, { game: 'toString', cursor: '', limit: 100 }), undefined);
  t.equal(listItems(1, { game: 'cs', cursor: 'nonsense', limit: 100 }), undefined);
});

t.test('people, their followers and stories', async (t) => {
  t.equal(findProfile(1, 'missing-1'), undefined);
  t.equal(findProfile(1, '../etc'), undefined);
  const profile = findProfile(1, '7');
  if (!profile) throw new Error('nobody');
  t.same(profile, findProfile(1, '7'));
  const all = listFollowers(1, profile, { offset: 0, limit: 1e6 });
  t.equal(new Set(all.map(({ id }) => id)).size, profile.followers, 'nobody twice');
  t.same(listFollowers(1, profile, { offset: 3, limit: 2 }), all.slice(3, 5));
  const withStory = Array.from({ length: 300 }, (_, id) => findProfile(1, String(id))).filter(
    (person) => person && listStories(1, person).length > 0,
  );
  t.ok(withStory.length > 60 && withStory.length < 140, `${withStory.length} of 300`);
});

t.test('every charset is written as it is read', async (t) => {
  for (const [charset, sample] of Object.entries(CHARSET_SAMPLES)) {
    // Not every version of Node reads this one right, so its bytes are looked at below.
    if (!isCharset(charset) || charset === 'windows-1252') continue;
    t.equal(new TextDecoder(charset).decode(encodeText(sample, charset)), sample, charset);
  }
  t.equal(encodeText('“é” – €', 'windows-1252').toString('hex'), '93e99420962080');
  t.equal(isCharset('constructor'), false);
});

t.test('certificates have the fault that was asked for', async (t) => {
  const now = Date.now();
  for (const fault of CERTIFICATE_FAULTS) {
    const certificate = new X509Certificate(makeCertificate(fault, now).cert);
    t.equal(certificate.verify(certificate.publicKey), true, 'signed by itself');
    t.equal(certificate.checkIP('127.0.0.1') !== undefined, fault !== 'wrong-host', `${fault}: names`);
    t.equal(Date.parse(certificate.validTo) < now, fault === 'expired', `${fault}: time`);
  }
});

t.test('a signature is good for its request, now', async (t) => {
  const about = { method: 'GET', path: '/api/signed/items?game=cs' };
  const now = 1_800_000_000_000;
  const date = '1800000000';
  const signature = signRequest({ ...about, date });
  const good = { key: API_KEY, date, signature };
  t.equal(findSignatureProblem(good, about, now), undefined);
  t.equal(findSignatureProblem({ ...good, key: undefined }, about, now), 'unknown key');
  t.equal(findSignatureProblem({ ...good, date: 'today' }, about, now), 'no date');
  t.equal(findSignatureProblem(good, about, now + 200_000), 'date is not now');
  t.equal(findSignatureProblem(good, { ...about, path: '/api/other' }, now), 'bad signature');
  t.equal(findSignatureProblem({ ...good, signature: undefined }, about, now), 'bad signature');
});

t.test('sessions end, rotate, and know when they are mixed', async (t) => {
  const sessions = createSessions(1);
  const token = sessions.open('demo', 3);
  t.match(sessions.use(token, 'a'), { user: 'demo', uses: 1 });
  t.equal(sessions.mixed(), 0);
  const next = sessions.rotate(token) ?? '';
  t.equal(sessions.use(token, 'a'), undefined, 'the old token is worth nothing');
  t.match(sessions.use(next, 'b'), { uses: 2 });
  t.equal(sessions.mixed(), 1);
  t.ok(sessions.use(next, 'b'));
  t.equal(sessions.use(next, 'b'), undefined, 'used up');
  t.equal(sessions.use(undefined, 'b'), undefined);
  t.equal(readCookie('a=1; sid=x=y ;b', 'sid'), 'x=y');
  t.equal(readCookie(undefined, 'sid'), undefined);
});

t.test('proxies behave as told', async (t) => {
  t.same(decideTreatment('ok', 1), { deed: 'pass', delayMs: 0 });
  t.same(decideTreatment('407', 1), { deed: '407', delayMs: 0 });
  t.same(decideTreatment({ slowMs: 50 }, 1), { deed: 'pass', delayMs: 50 });
  t.same(
    [1, 2, 3].map((use) => decideTreatment({ dieAfter: 2 }, use).deed),
    ['pass', 'pass', 'refuse'],
  );
  const pattern = (seed: number): string[] =>
    Array.from({ length: 200 }, (_, use) => decideTreatment({ flap: 0.5, seed }, use).deed);
  t.same(pattern(1), pattern(1));
  t.not(pattern(1).join(), pattern(2).join());
  const passed = pattern(1).filter((deed) => deed === 'pass').length;
  t.ok(passed > 60 && passed < 140, `${passed} of 200 passed`);
});
