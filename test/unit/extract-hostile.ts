/** Pages that were made to hurt: each must end soon, with a result or a clear refusal. */
import t from 'tap';
import { compileExtractor } from '../../src/extract/extractor.ts';
import type { FieldSpec } from '../../src/extract/field-spec.ts';
import { DEPTH_MAX } from '../../src/extract/limits.ts';
import { createTaker } from '../../src/extract/pattern.ts';
import { parseSitemap, SITEMAP_MAX_CHARACTERS } from '../../src/extract/sitemap.ts';

/** Generous, because the machine may be busy: a square of these sizes would take minutes. */
const SOON_MS = 20_000;
const MANY = 1_000_000;

function run(fields: Record<string, FieldSpec>, html: string): Record<string, unknown> {
  const page = {
    url: 'http://site.example/',
    headers: {},
    text: () => html,
    json: (): unknown => JSON.parse(html),
  };
  return compileExtractor({ fields }).extract(page).page.value;
}

function soon<T>(t: Pick<typeof import('tap').t, 'ok'>, name: string, work: () => T): T {
  const start = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(start);
  t.ok(user + system < SOON_MS * 1_000, `${name}: ${Math.round((user + system) / 1_000)} ms`);
  return result;
}

t.test('one pass over large pages', async (t) => {
  const end = '<p class=last>end</p>';
  const fields = { end: { css: '.last' } };
  const pages: Record<string, string> = {
    'a million tags': '<b></b>'.repeat(MANY) + end,
    'a million open tags': '<b>'.repeat(MANY) + end,
    'a million open blocks': '<div>'.repeat(MANY) + end,
    'a million end tags': `${'<div>'.repeat(600)}${'</span>'.repeat(MANY)}${end}`,
    'a million list items': `<ul>${'<li>x'.repeat(MANY)}</ul>${end}`,
    'a huge attribute': `<div title="${'x'.repeat(10 * MANY)}">${end}</div>`,
    'a million attributes': `<div ${'a=b '.repeat(MANY)}>${end}</div>`,
    'a huge text': 'x&amp;'.repeat(MANY) + end,
    'comments that nearly end': `${'<!-- --!'.repeat(MANY)}-->${end}`,
    'a huge tag name': `<${'x'.repeat(10 * MANY)}>${end}`,
    'a million of < alone': '< '.repeat(MANY) + end,
    'scripts that nearly end': `<script>${'</scrip'.repeat(MANY)}</script>${end}`,
  };
  for (const [name, html] of Object.entries(pages)) {
    const found = soon(t, name, () => run(fields, html));
    t.same(found, { end: 'end' }, name);
  }
  t.same(run(fields, `<div a="${'x'.repeat(MANY)}`), { end: null }, 'a quote without an end');
});

t.test('deep pages are flattened, and what follows them is found where it is', async (t) => {
  const html = `${'<div>'.repeat(DEPTH_MAX * 4)}<i>deep</i>${'</div>'.repeat(DEPTH_MAX * 4)}<p>after</p>`;
  t.same(run({ top: { css: 'p' }, inside: { css: 'div p' }, deep: { css: 'div > i', attr: 'x' } }, html), {
    top: 'after',
    inside: null,
    deep: null,
  });
});

t.test('a list that is too long, and items in items in items, are refused', async (t) => {
  const refused = { code: 'INVALID', message: /too large to extract from/ };
  const long = '<p>x</p>'.repeat(20_000);
  const nested = `${'<div>'.repeat(500)}${'<i>x</i>'.repeat(9_000)}`;
  const each: FieldSpec = { each: 'div', fields: { i: { css: 'i', all: true } } };
  soon(t, 'refusals', () => {
    t.throws(() => run({ p: { css: 'p', all: true } }, long), refused);
    t.throws(() => run({ p: { css: 'p:last-child', all: true } }, `<p>x</p>`.repeat(600_000)), refused);
    t.throws(
      () => run({ p: { css: 'i ~ p ~ b:not(.x)' } }, '<p></p>'.repeat(100_000) + '<b></b>'.repeat(100_000)),
      refused,
    );
    t.throws(
      () => run({ p: { css: 'x b b b b:not(.x)' } }, '<b>'.repeat(500) + '<b></b>'.repeat(1_000)),
      refused,
    );
    t.throws(
      () => run({ all: { css: 'div', all: true } }, `${'<div>'.repeat(500)}${'x'.repeat(100_000)}`),
      refused,
    );
    t.equal((run({ each }, nested)['each'] as unknown[]).length, 500);
  });
});

t.test('JSON that is deep, and names that objects have', async (t) => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  soon(t, 'deep JSON', () => {
    t.same(run({ a: { json: '$..name' } }, `{"a":${deep}}`), { a: null });
    t.ok(JSON.stringify(run({ a: { json: '$.a' } }, `{"a":${deep}}`)).length < 500, 'cut off below');
  });
  const many = JSON.stringify({
    list: Array.from({ length: 12_000 }, (_, id) => (id < 11_000 ? {} : { id })),
  });
  t.same(run({ ids: { json: '$.list[*].id', all: true } }, many), {
    ids: Array.from({ length: 1_000 }, (_, n) => 11_000 + n),
  });
  const tooMany = { code: 'INVALID', message: /more than 10000/ };
  t.same(run({ one: { json: '$.list[*]' } }, many), { one: {} });
  t.throws(() => run({ all: { json: '$.list[*]', all: true } }, many), tooMany, 'not a part of it');
  const list = { from: 'json', each: '$.list[*]', fields: { id: { json: '$.id' } } } as const;
  t.throws(() => run({ list }, many), tooMany);
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const fields = Object.fromEntries([[name, { css: 'p' }]]);
    t.throws(() => compileExtractor({ fields }), { code: 'INVALID', message: /cannot be called/ }, name);
    t.throws(() => compileExtractor({ fields: {}, items: { each: 'p', fields } }), { code: 'INVALID' }, name);
  }
});

t.test('patterns take time in proportion to the text', async (t) => {
  soon(t, '(a+)+$', () => t.equal(createTaker('(a+)+$')(`${'a'.repeat(100_000)}b`), undefined));
  t.throws(() => createTaker('(?=a)b'), { code: 'INVALID', hint: /RE2/ });
  t.throws(() => createTaker('a'.repeat(513)), { code: 'INVALID', message: /longer than 512/ });
  t.throws(() => createTaker('a', 1), { code: 'INVALID', message: /no group 1/ });
});

t.test('site maps', async (t) => {
  const url = 'http://site.example/sitemap.xml';
  const text = `<?xml version="1.0"?><urlset xmlns:image="i"><url><loc> /a </loc><lastmod>2025-01-02</lastmod></url>
    <url><image:image><image:loc>/no.png</image:loc></image:image><loc><![CDATA[http://site.example/b?x=1&y=2]]></loc></url>
    <url><loc>javascript:x</loc></url></urlset>`;
  t.same(parseSitemap(text, url), {
    pages: [
      { url: 'http://site.example/a', lastModified: '2025-01-02' },
      { url: 'http://site.example/b?x=1&y=2' },
    ],
    maps: [],
    truncated: false,
    leftOut: 0,
  });
  const index = '<sitemapindex><sitemap><loc>http://site.example/1.xml.gz</loc></sitemap></sitemapindex>';
  t.same(parseSitemap(index, url).maps, [{ url: 'http://site.example/1.xml.gz' }]);
  t.same(parseSitemap('http://site.example/x\n\nhttp://site.example/y', url).pages.length, 2);
  const huge = `<urlset>${'<url><loc>/a</loc></url>'.repeat(60_000)}</urlset>`;
  t.match(
    soon(t, 'a huge map', () => parseSitemap(huge, url)),
    { truncated: true, leftOut: 10_000, pages: { length: 50_000 } },
  );
  const lines = Array.from({ length: 50_010 }, (_, n) => `http://site.example/${n}\n\n`).join('');
  t.match(
    soon(t, 'a huge list', () => parseSitemap(lines, url)),
    { truncated: true, leftOut: 10, pages: { length: 50_000 } },
    'lines without an address are none',
  );
  t.match(
    soon(t, 'a deep map', () => parseSitemap('<a>'.repeat(MANY), url)),
    { pages: [], truncated: true, leftOut: 0 },
  );
  t.same(parseSitemap('', url), { pages: [], maps: [], truncated: false, leftOut: 0 });
});

t.test('a site map with more characters than are read ends with a whole address', async (t) => {
  const url = 'http://site.example/sitemap.xml';
  const entry = '<url><loc>/whole</loc></url>';
  const start = `<urlset>${' '.repeat(SITEMAP_MAX_CHARACTERS - 8 - entry.length - 20)}${entry}`;
  const half = `<url><loc>/a-long-address-that-is-cut</loc></url>`;
  t.same(parseSitemap(`${start}${half}${entry}</urlset>`, url), {
    pages: [{ url: 'http://site.example/whole' }],
    maps: [],
    truncated: true,
    leftOut: 2,
  });
  const line = 'http://site.example/whole';
  const blank = '\n'.repeat(SITEMAP_MAX_CHARACTERS - line.length - 10);
  t.same(parseSitemap(`${blank}${line}\n${line}/and/more\n`, url), {
    pages: [{ url: line }],
    maps: [],
    truncated: true,
    leftOut: 1,
  });
});
