/** The files that `trawl new` writes. */

export type NewKind = 'js' | 'ts' | 'template';

export interface NewFile {
  readonly name: string;
  readonly text: string;
}

export function planNewScraper(name: string, kind: NewKind): readonly [scraper: NewFile, test: NewFile] {
  const file = { js: `${name}.mjs`, ts: `${name}.ts`, template: `${name}.yaml` }[kind];
  const scraper = kind === 'template' ? templateOf(name) : handlerOf(name, kind);
  return [
    { name: file, text: scraper },
    { name: `${name}.test.mjs`, text: testOf(name, file) },
  ];
}

function handlerOf(name: string, kind: 'js' | 'ts'): string {
  const typed = kind === 'ts';
  return `/** What ${name} does, in one sentence. */
import { defineScraper } from 'trawl';
${typed ? '\ninterface Item {\n  readonly url: string;\n  readonly title: unknown;\n}\n' : ''}
const fields = {
  title: { css: 'h1', required: true },
  links: { css: 'a.next', attr: 'href', type: 'url', all: true },
}${typed ? ' as const' : ''};

export default defineScraper({
  name: '${name}',
  timeout: '2m', // hard limit of one attempt
  retries: 3, // attempts after the first
  limits: { delayMs: 1000 }, // between two pages of a host
  crawl: { depth: 3, within: 'site' }, // of what it enqueues for itself: three links in a row at most
  async run({ page, emit, enqueue }) {
    const here = await page(); // the page of the task's URL
    const { title, links } = here.extract(fields);
    ${typed ? 'const item: Item = { url: here.url, title };\n    emit(item);' : 'emit({ url: here.url, title });'} // stored with the outcome of the task
    enqueue(${typed ? 'links as string[]' : 'links'}); // more tasks of this run; known ones are left out
  },
});
`;
}

function templateOf(name: string): string {
  return `# What ${name} does, in one sentence.
name: ${name}
timeout: 2m
retries: 3
limits:
  delay: 1s
fields:
  title: { css: h1, required: true }
follow:
  - links: a.next
    depth: 3
    within: site
`;
}

function testOf(name: string, file: string): string {
  return `/** Run it with: node --test */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadScraper, testScraper } from 'trawl/testing';

const scraper = await loadScraper(new URL('./${file}', import.meta.url));

test('${name} reads a page', async () => {
  const site = { '/': '<h1>Hello</h1> <a class="next" href="/2">more</a>' };
  const { items, enqueued, error } = await testScraper(scraper, { site });
  assert.equal(error, undefined);
  assert.equal(items[0].title, 'Hello');
  assert.deepEqual(enqueued.map(({ url }) => url), ['https://site.test/2']);
});

test('${name} fails where there is nothing to read', async () => {
  const { error } = await testScraper(scraper, { site: {} });
  assert.equal(error.code, 'REJECTED');
});
`;
}
