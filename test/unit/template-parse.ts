import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SourcePage } from '../../src/extract/field-spec.ts';
import { parseSitemap } from '../../src/extract/sitemap.ts';
import { projectRoot } from '../../src/project-root.ts';
import { compileTemplate, type PageResult, type TemplatePage } from '../../src/templates/compile-template.ts';
import { parseTemplate } from '../../src/templates/parse-template.ts';
import { loadTemplate } from '../../src/templates/template-scraper.ts';

function problemsOf(text: string): readonly string[] {
  const parsed = parseTemplate(text, 'a.yaml');
  return parsed.ok ? [] : parsed.problems;
}

function extract(text: string, page: Partial<TemplatePage> & { readonly body: string }): PageResult {
  const parsed = parseTemplate(text, 'a.yaml');
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const source: SourcePage & Pick<TemplatePage, 'sitemap'> = {
    url: 'http://site.example/list',
    headers: {},
    text: () => page.body,
    json: () => JSON.parse(page.body) as unknown,
    sitemap: () => parseSitemap(page.body, 'http://site.example/sitemap.xml'),
  };
  return compileTemplate(parsed.template).extract({ ...source, ...page });
}

t.test('all problems at once, with line, column and what was probably meant', async (t) => {
  const text = `name: bad name
mode: distribute
limts: { perHour: 5 }
timeout: soon
start: [ftp://x.example, 'http://ok.example/']
limits: { perHour: many, dely: 1s }
items:
  each: 'li:nope'
  fields:
    __proto__: p
    price: { css: 'p[', type: prise }
    when: { type: text, zone: Europe/Berlin }
    code: { re2: '(?=x)' }
    path: { from: json, json: '$[?(x)]' }
    wrong: { re2: 'a(b)', group: 2 }
    list: { each: li }
next: { page: p, cursor: $.c }
follow:
  - include: ['re2:(']
    within: everywhere
`;
  const problems = problemsOf(text);
  const wanted: RegExp[] = [
    /^a\.yaml:1:7: name must be 1 to 64 letters/,
    /^a\.yaml:2:7: mode must be one of single, distributed; did you mean distributed\?/,
    /^a\.yaml:3:1: there is no "limts"; did you mean limits\?/,
    /^a\.yaml:4:10: timeout must be a duration/,
    /^a\.yaml:5:9: start\[0\]: not a URL of a page/,
    /^a\.yaml:6:20: limits\.perHour must be a whole number/,
    /^a\.yaml:6:26: there is no "dely" in limits; did you mean delay\?/,
    /^a\.yaml:8:9: items\.each: the selector cannot be used: .*nope/,
    /^a\.yaml:10:5: "__proto__" in items\.fields must be a name/,
    /^a\.yaml:11:19: items\.fields\.price\.css: the selector cannot be read/,
    /^a\.yaml:11:31: items\.fields\.price\.type must be one of .*; did you mean price\?/,
    /^a\.yaml:12:11: items\.fields\.when has format or zone, but is no date/,
    /^a\.yaml:13:18: items\.fields\.code\.re2: the pattern cannot be read/,
    /^a\.yaml:14:31: items\.fields\.path\.json: the JSON path cannot be read/,
    /^a\.yaml:15:12: items\.fields\.wrong re2: the pattern has no group 2/,
    /^a\.yaml:16:11: items\.fields\.list needs both each and fields/,
    /^a\.yaml:17:7: next needs exactly one of link, page, offset and cursor/,
    /^a\.yaml:19:15: follow\[0\]\.include\[0\]: the pattern cannot be read/,
    /^a\.yaml:20:13: follow\[0\]\.within must be one of host, site, anywhere/,
  ];
  for (const pattern of wanted)
    t.ok(
      problems.some((problem) => pattern.test(problem)),
      pattern.source,
    );
  t.equal(
    problems.filter((problem) => !wanted.some((pattern) => pattern.test(problem))).length,
    0,
    problems.join('\n'),
  );
});

t.test('files that are no templates', async (t) => {
  t.match(problemsOf('a: [1'), [/^a\.yaml:\d+:\d+: /]);
  t.match(problemsOf(''), [/must be lines/]);
  t.match(problemsOf('name: a\nfields: { a: p }\nwaitFor: .b'), [/waitFor .* needs engine: browser/]);
  t.match(problemsOf('name: a'), [/needs fields, items or follow/]);
  t.match(problemsOf('fields: { a: p }'), [/the file needs name/]);
  t.match(problemsOf('name: a\nfields: { a: p }\npages: [{ fields: { a: p } }]'), [/belong into the pages/]);
  t.match(problemsOf('name: a\npages:\n  - fields: { a: p }\n    items: { each: p, fields: { a: p } }'), [
    /^a\.yaml:3:5: pages\[0\] has both/,
  ]);
  t.match(problemsOf('name: a\nfields: { a: p }\nname: b'), [/^a\.yaml:3:1: .*unique/i]);
  const bomb = [
    'a: &a [1,1,1,1,1,1,1,1,1]',
    ...'bcdefgh'
      .split('')
      .map((name, index) => `${name}: &${name} [${`*${'abcdefg'.charAt(index)},`.repeat(9)}]`),
  ].join('\n');
  t.match(problemsOf(bomb), [/more than 20000 values/]);
  t.match(
    problemsOf(
      `name: a\nfields:\n${Array.from({ length: 51 }, (_, index) => `  f${index}: { re2: a }`).join('\n')}`,
    ),
    [/more than 50 patterns/],
  );
  t.throws(() => loadTemplate('name: a', 'a.yaml'), {
    code: 'INVALID',
    message: /a\.yaml:1:1/,
    hint: /catalogue/,
  });
});

t.test('items are found with what is wrong with each', async (t) => {
  const text = `name: a\nitems:\n  each: li\n  fields: { name: { css: b, required: true }, size: { css: i, type: number } }`;
  const { items } = extract(text, { body: '<ul><li><b>x</b><i>1</i><li><i>2</i><li><b>z</b>' });
  t.same(items, [
    { value: { name: 'x', size: 1 }, problems: [] },
    { value: { name: null, size: 2 }, problems: ['name is missing'] },
    { value: { name: 'z', size: null }, problems: [] },
  ]);
});

t.test('the next page: by link, number, offset and cursor', async (t) => {
  const list = 'items: { each: li, fields: { t: { } } }';
  const body = '<ul><li>1</ul><a rel=next href="?page=3#x">next</a>';
  const next = (rule: string, page: Partial<TemplatePage> = {}, html = body): string | undefined =>
    extract(`name: a\n${list}\nnext: ${rule}`, { body: html, ...page }).next;
  t.equal(next("'a[rel=next]'"), 'http://site.example/list?page=3#x');
  t.equal(next("{ link: 'a[rel=next]', max: 2 }", { page: 2 }), undefined, 'no further than max');
  t.equal(next("'a[rel=prev]'"), undefined);
  t.equal(next('{ page: p }'), 'http://site.example/list?p=2');
  t.equal(
    next('{ page: p }', { url: 'http://site.example/list?p=7&q=x' }),
    'http://site.example/list?p=8&q=x',
  );
  t.equal(next('{ page: p, first: 0 }'), 'http://site.example/list?p=1');
  t.equal(next('{ page: p }', {}, '<p>no more'), undefined, 'a page without items is the last');
  t.equal(
    next('{ offset: from, step: 50 }', { url: 'http://site.example/list?from=100' }),
    'http://site.example/list?from=150',
  );
  const json =
    'name: a\nitems: { from: json, each: "$.list[*]", fields: { n: n } }\nnext: { cursor: $.cursor, param: c }';
  t.match(extract(json, { body: '{"list":[{"n":1}],"cursor":"a b"}' }), {
    items: [{ value: { n: 1 } }],
    next: 'http://site.example/list?c=a+b',
  });
  t.equal(extract(json, { body: '{"list":[{"n":1}],"cursor":""}' }).next, undefined);
});

t.test('links: what to follow, and for whom', async (t) => {
  const text = `name: a
pages:
  - match: /list*
    follow:
      - { links: nav a, include: /c/*, depth: 2, priority: 7 }
      - { links: li a, scraper: product, pagesPerRun: 2 }
  - fields: { title: h1 }
`;
  const body = `<base href="/sub/"><nav><a href="/c/1">1</a><a href="/d">d</a></nav><ul><li><a href=x>x</a><li><a href=y>y</a><li><a href=z>z</a><li><a href="javascript:1">j</a></ul>`;
  const result = extract(text, { body });
  t.same(
    result.links.map(({ url, scraper, priority, budget }) => [url, scraper, priority, budget]),
    [
      ['http://site.example/c/1', undefined, 7, undefined],
      ['http://site.example/sub/x', 'product', undefined, { pagesPerRun: 2 }],
      ['http://site.example/sub/y', 'product', undefined, { pagesPerRun: 2 }],
      ['http://site.example/sub/z', 'product', undefined, { pagesPerRun: 2 }],
    ],
  );
  t.same(result.refused, { excluded: 1, invalid: 1 });
  t.equal(extract(text, { body, depth: 2 }).refused.depth, 1);
  t.match(extract(text, { body: '<h1>T', url: 'http://site.example/p' }), {
    rule: 1,
    items: [{ value: { title: 'T' } }],
  });
});

t.test('a template is a scraper with all that it says', async (t) => {
  const scraper = loadTemplate(
    `name: a\nmode: distributed\nengine: browser\ntimeout: 2m\nretries: 1\nrobots: false\nstart: http://site.example/
limits: { delay: 1s, jitter: 50, perHour: 9 }\negress: { via: proxy, session: true }\nfields: { a: p }`,
    'a.yaml',
  );
  t.match(scraper, {
    name: 'a',
    mode: 'distributed',
    engine: 'browser',
    start: ['http://site.example/'],
    timeoutMs: 120_000,
    retries: 1,
    robots: false,
    limits: { delayMs: 1_000, jitter: 0.5, perHour: 9 },
    egress: { via: 'proxy', session: true },
    run: Function,
  });
});

t.test('a site map leads to the pages that are wanted, and to every further site map', async (t) => {
  const template = `
name: shop
pages:
  - match: '*sitemap*'
    follow: { sitemap: true, include: /product/*, exclude: '*/product/old*', scraper: product, priority: 3 }
  - fields: { title: h1 }
`;
  const map = (...locs: string[]): string =>
    `<urlset>${locs.map((loc) => `<url><loc>http://${loc}</loc></url>`).join('')}</urlset>`;
  const body = map(
    'site.example/product/1',
    'site.example/about',
    'site.example/product/old',
    'b.example/product/2',
  );
  const { links, refused } = extract(template, { url: 'http://site.example/sitemap.xml', body });
  t.same(links, [{ url: 'http://site.example/product/1', scraper: 'product', priority: 3 }]);
  t.same(refused, { excluded: 2, outside: 1 });

  const index = `<sitemapindex><sitemap><loc>http://site.example/sitemap-2.xml</loc></sitemap></sitemapindex>`;
  t.same(extract(template, { url: 'http://site.example/sitemap.xml', body: index }).links, [
    { url: 'http://site.example/sitemap-2.xml', scraper: undefined, priority: 3 },
  ]);

  const many = Array.from({ length: 20_000 }, (_, id) => `site.example/product/${id}`);
  t.equal(
    extract(template, { url: 'http://site.example/sitemap.xml', body: map(...many) }).links.length,
    20_000,
  );
  t.match(problemsOf('name: a\nfollow: { sitemap: true, links: a }'), [
    /^a\.yaml:2:9: follow\S* has both links and sitemap/,
  ]);
});

t.test('the template of the README is one', async (t) => {
  const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');
  const written = /```yaml\n(name: [^]*?)\n```/.exec(readme)?.[1] ?? '';
  t.match(written, /sitemap: true/);
  t.same(problemsOf(written), []);
});
