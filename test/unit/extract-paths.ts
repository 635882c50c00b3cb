/** One pass over the text and css-select on a tree must find the same, whatever the page. */
import t from 'tap';
import { compileExtractor } from '../../src/extract/extractor.ts';
import type { FieldSpec, SourcePage } from '../../src/extract/field-spec.ts';
import { VALUES_MAX } from '../../src/extract/limits.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';
import { randomFields, randomHtml } from '../kit/random-html.ts';

const ROUNDS = 4_000;

function pageOf(html: string): SourcePage {
  return { url: 'http://site.example/a/b', headers: {}, text: () => html, json: () => undefined };
}

function both(fields: Readonly<Record<string, FieldSpec>>, html: string): { stream: unknown; tree: unknown } {
  const stream = compileExtractor({ fields });
  const tree = compileExtractor({ fields }, 'tree');
  if (stream.way !== 'stream' || tree.way !== 'tree') throw new Error('the selectors do not allow one pass');
  return { stream: stream.extract(pageOf(html)).page, tree: tree.extract(pageOf(html)).page };
}

t.test('the two ways give the same, on random pages with random templates', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  let found = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const fields = randomFields(random);
    const html = randomHtml(random, random.int(1, 60));
    const { stream, tree } = both(fields, html);
    const same = JSON.stringify(stream) === JSON.stringify(tree);
    if (/[:[]"./.test(JSON.stringify(stream).replace(/^.*?"value"/, ''))) found += 1;
    if (!same) {
      t.same(stream, tree, JSON.stringify({ html, fields }));
      return;
    }
  }
  t.ok(found > ROUNDS / 10, `${found} of ${ROUNDS} pages had something`);
});

t.test('a page leaves nothing behind for the next one, even if it was left in the middle', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  const fields = randomFields(random);
  const used = compileExtractor({ fields });
  const tooMany = '<p class=a><i>'.repeat(VALUES_MAX + 1);
  const full = compileExtractor({
    fields: { p: { css: 'p', all: true }, l: { each: 'p', fields: { i: { css: 'i' } } } },
  });
  for (let round = 0; round < 500; round += 1) {
    const page = pageOf(randomHtml(random, random.int(1, 60)));
    const again = used.extract(page).page;
    t.same(again, compileExtractor({ fields }).extract(page).page);
    if (!t.passing()) return;
    if (round % 100 !== 0) continue;
    t.throws(() => full.extract(pageOf(tooMany)), { code: 'INVALID' });
    t.same(full.extract(pageOf('<p><i>x</i>y')).page.value, { p: ['xy'], l: [{ i: 'x' }] });
  }
});

t.test('items in items, and one element that is several things', async (t) => {
  const fields: Record<string, FieldSpec> = {
    outer: {
      each: '.o',
      fields: {
        id: { attr: 'id' },
        texts: { css: 'i', all: true },
        inner: { each: '.o, .n', fields: { id: { attr: 'id' } } },
      },
    },
  };
  const html = '<div class=o id=1><i>a</i><div class="o n" id=2><i>b</i><p class=n id=3></div></div><i>c</i>';
  const { stream, tree } = both(fields, html);
  t.same(stream, tree);
  t.same(stream, {
    problems: [],
    value: {
      outer: [
        { id: '1', texts: ['a', 'b'], inner: [{ id: '2' }, { id: '3' }] },
        { id: '2', texts: ['b'], inner: [{ id: '3' }] },
      ],
    },
  });
});

t.test('selectors that look ahead take the tree', async (t) => {
  for (const css of [
    'p:last-child',
    'li:has(a)',
    'p:not(.a)',
    'a:contains("x")',
    'p:empty',
    '[a!=b]',
    ':is(a, b)',
  ])
    t.equal(compileExtractor({ fields: { a: { css } } }).way, 'tree', css);
  for (const css of ['p', 'a > b', 'a + b ~ c', '#x.y[z]', 'td:nth-child(3)', '*'])
    t.equal(compileExtractor({ fields: { a: { css } } }).way, 'stream', css);
  const relative = compileExtractor({
    fields: { l: { each: 'ul', fields: { li: { css: '> li', all: true } } } },
  });
  const page = pageOf('<ul><li>1<ul><li>2</ul><li>3</ul>');
  t.equal(relative.way, 'tree');
  t.same(relative.extract(page).page.value, { l: [{ li: ['12', '3'] }, { li: ['2'] }] });
});
