import t from 'tap';
import { compileExtractor } from '../../src/extract/extractor.ts';
import type { FieldSpec, ListSpec, SourcePage } from '../../src/extract/field-spec.ts';
import { parseJsonPath } from '../../src/extract/json-path.ts';
import { createDateReader } from '../../src/extract/read-date.ts';
import { readInteger, readNumber, readPrice } from '../../src/extract/read-number.ts';

t.test('numbers', async (t) => {
  const cases: [string, number | undefined][] = [
    ['1,299.00', 1299],
    ['1.299,00', 1299],
    ['1 299', 1299],
    ['1\u00a0299,5', 1299.5],
    ['1’299.50', 1299.5],
    ['1,299', 1299],
    ['1.299', 1299],
    ['12,34', 12.34],
    ['0.299', 0.299],
    ['1,234,567', 1234567],
    ['1.5', 1.5],
    ['-3', -3],
    ['−3,5', -3.5],
    ['rated 4.5/5', 4.5],
    ['1e3', 1000],
    ['none', undefined],
    ['', undefined],
  ];
  for (const [text, wanted] of cases) t.equal(readNumber(text), wanted, text);
  t.equal(readInteger('12'), 12);
  t.equal(readInteger('12.5'), undefined);
});

t.test('prices', async (t) => {
  const cases: [string, number, string | null][] = [
    ['€1.299,00', 1299, 'EUR'],
    ['$1,299.00', 1299, 'USD'],
    ['1 299 kr', 1299, 'SEK'],
    ['CHF 1’299.50', 1299.5, 'CHF'],
    ['1\u00a0299,00 €', 1299, 'EUR'],
    ['¥129900', 129900, 'JPY'],
    ['£12', 12, 'GBP'],
    ['CA$ 5.50', 5.5, 'CAD'],
    ['12.50 PLN', 12.5, 'PLN'],
    ['49,90 zł', 49.9, 'PLN'],
    ['₹1,00,000', 100000, 'INR'],
    ['was 12.00', 12, null],
  ];
  for (const [text, amount, currency] of cases) t.same(readPrice(text), { amount, currency }, text);
  t.same(readPrice('1 299 kr', 'NOK'), { amount: 1299, currency: 'NOK' });
  t.same(readPrice('€5', 'NOK'), { amount: 5, currency: 'EUR' });
  t.equal(readPrice('on request'), undefined);
});

t.test('dates', async (t) => {
  const cases: [string, string | undefined, { format?: string; zone?: string }?][] = [
    ['2025-02-03', '2025-02-03'],
    ['2025-02-03T10:20:30Z', '2025-02-03T10:20:30.000Z'],
    ['2025-02-03 10:20:30.5+02:00', '2025-02-03T08:20:30.500Z'],
    ['2025/2/3', '2025-02-03'],
    ['03.02.2025', '2025-02-03'],
    ['02/03/2025', '2025-02-03'],
    ['13/02/2025', '2025-02-13'],
    ['3 February 2025', '2025-02-03'],
    ['Feb 3rd, 2025 5:06 pm', '2025-02-03T17:06:00.000Z'],
    ['3. März 2025', '2025-03-03'],
    ['3 de enero de 2025', '2025-01-03'],
    ['1750000000', '2025-06-15T15:06:40.000Z'],
    ['03/02/2025', '2025-02-03', { format: 'DD/MM/YYYY' }],
    ['20250203', '2025-02-03', { format: 'YYYYMMDD' }],
    ['3 Feb 25, 12:30 am', '2025-02-03T00:30:00.000Z', { format: 'D MMM YY, hh:mm A' }],
    ['2025-07-03 10:00', '2025-07-03T08:00:00.000Z', { zone: 'Europe/Berlin' }],
    ['2025-02-30', undefined],
    ['2025-13-01', undefined],
    ['soon', undefined],
  ];
  for (const [text, wanted, options] of cases) t.equal(createDateReader(options)(text), wanted, text);
  t.throws(() => createDateReader({ format: 'MM/YYYY' }), { code: 'INVALID', message: /a day/ });
});

t.test('JSON paths', async (t) => {
  const data = { a: { b: [{ n: 1 }, { n: 2, 'x y': 3 }] }, n: 0, list: [1, [2]] };
  const cases: [string, unknown[]][] = [
    ['$', [data]],
    ['$.a.b[0].n', [1]],
    ['a.b[-1].n', [2]],
    ['$.a.b[*].n', [1, 2]],
    ["$.a.b[1]['x y']", [3]],
    ['$..n', [0, 1, 2]],
    ['$.list.*', [1, [2]]],
    ['$.nothing.at.all', []],
    ['$.toString', []],
    ['$.list.length', []],
  ];
  for (const [path, wanted] of cases) t.same(parseJsonPath(path).read(data), wanted, path);
  for (const path of ['$.__proto__', '$..constructor', '$[?(@.a)]', '$.a[', '$ a'])
    t.throws(() => parseJsonPath(path), { code: 'INVALID' }, path);
});

function extract(fields: Record<string, FieldSpec>, html: string, items?: ListSpec) {
  let data: unknown;
  const page: SourcePage = {
    url: 'http://site.example/shop/list?page=2',
    headers: { 'X-Total': '40' },
    text: () => html,
    json: () => (data ??= JSON.parse(html) as unknown),
  };
  return compileExtractor({ fields, items }).extract(page);
}

t.test('fields of every kind', async (t) => {
  const html = `<base href="/img/"><script type="application/ld+json">{"offers":{"price":"9.50","sale":true}}</script>
    <h1>  A &amp; <b>B</b>\n<script>no()</script><br>C </h1><a href="x.png" title="">x</a><p>In stock</p><i>7</i><i>8</i>`;
  const { page } = extract(
    {
      text: { css: 'h1' },
      html: { css: 'h1 b', type: 'html' },
      link: { css: 'a', attr: 'HREF', type: 'url' },
      empty: { css: 'a', attr: 'title' },
      none: { css: 'h6', default: 'n/a' },
      all: { css: 'i', type: 'integer', all: true },
      noneOfAll: { css: 'h6', all: true },
      stock: { css: 'p', type: 'bool' },
      price: { css: 'script[type="application/ld+json"]', json: '$.offers.price', type: 'number' },
      sale: { css: 'script', json: '$.offers.sale' },
      page: { from: 'url', re2: 'page=(\\d+)', type: 'integer' },
      total: { from: 'header', header: 'x-total', type: 'integer' },
      source: { re2: '(?P<tag><h1>)', group: 'tag' },
    },
    html,
  );
  t.same(page.problems, []);
  t.same(page.value, {
    text: 'A & B C',
    html: 'B',
    link: 'http://site.example/img/x.png',
    empty: null,
    none: 'n/a',
    all: [7, 8],
    noneOfAll: [],
    stock: true,
    price: 9.5,
    sale: true,
    page: 2,
    total: 40,
    source: '<h1>',
  });
});

t.test('what is missing or wrong is told, item by item', async (t) => {
  const html = '<ul><li><b>a</b> <i>1</i><li><b></b><i>2</i><li><b>c</b><i>x</i><li><b>d</b><i>99</i></ul>';
  const { items } = extract({}, html, {
    each: 'li',
    fields: { name: { css: 'b', required: true }, size: { css: 'i', type: 'number', check: { max: 10 } } },
  });
  t.same(
    items.map(({ problems }) => problems),
    [[], ['name is missing'], ['size is not a number: "x"'], ['size is above 10: 99']],
  );
});

t.test('lists from JSON, of the page and of a script in it', async (t) => {
  const fields: Record<string, FieldSpec> = {
    id: { json: '$.id', required: true },
    cents: { json: '$.price.USD', type: 'integer' },
    tags: { json: '$.tags[*]', all: true },
    parts: { each: '$.parts[*]', fields: { n: { json: '$.n', type: 'number' } } },
  };
  const data =
    '{"objects":[{"id":"a","price":{"USD":"12"},"tags":["x","y"],"parts":[{"n":1.299}],"__proto__":{"z":1}},{"id":null}]}';
  const list: ListSpec = { from: 'json', each: '$.objects[*]', fields };
  const wanted = [
    { id: 'a', cents: 12, tags: ['x', 'y'], parts: [{ n: 1.299 }] },
    { id: null, cents: null, tags: [], parts: [] },
  ];
  t.same(
    extract({}, data, list).items.map(({ value }) => value),
    wanted,
  );
  t.same(extract({}, data, list).items[1]?.problems, ['id is missing']);
  const script = `<script id="data">${data}</script>`;
  t.same(
    extract({}, script, { ...list, css: 'script#data' }).items.map(({ value }) => value),
    wanted,
  );
  const whole = extract({ all: { json: '$.objects[0]' } }, data).page.value['all'];
  t.notOk(Object.hasOwn(whole as object, '__proto__'), 'keys that change objects are left out');
});
