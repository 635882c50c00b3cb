/** Which files scrapers are loaded from, and in which languages. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/project-root.ts';
import { loadScrapers } from '../../src/scrapers/load.ts';
import type { Scraper } from '../../src/scrapers/scraper.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

const plain = (name: string): string => `export default { name: '${name}', run: async () => '${name}' }\n`;
const namesOf = (scrapers: readonly Scraper[]): string[] => scrapers.map(({ name }) => name).sort();

t.test('modules of every kind, whatever the package around them says', async (t) => {
  const folder = temporaryFolder(t);
  write(folder, {
    'package.json': '{ "type": "commonjs" }',
    'es.js': plain('es'),
    'es.mjs': plain('es-mjs'),
    'common.js': `module.exports = { name: 'common', run: async () => 1 }`,
    'common.cjs': `module.exports = { name: 'common-cjs', run: async () => 1 }`,
    'several.mjs': `export const scrapers = [{ name: 'one', run() {} }, { name: 'two', run() {} }]`,
    'uses-trawl.js': `import { defineScraper } from 'trawl';
export default defineScraper({ name: 'uses-trawl', timeout: '2m', run: async () => 1 });`,
    'typed.ts': `import { defineScraper, type Scraper } from 'trawl';
import { part } from './_part.js';
interface Item { n: number }
const item: Item = { n: part() };
export const scraper: Scraper = defineScraper({ name: 'typed', async run({ emit }) { emit(item) } });`,
    '_part.ts': `export const part = (): number => 7;`,
    'typed.test.ts': `throw new Error('a test is no scraper')`,
    'types.d.ts': `export {};`,
    'broken.ts': `const a: number = 1;\n\nconst b: number = ;\n`,
    'throws.ts': `interface A { a: 1 }\n\ninterface B { b: 1 }\n\nthrow new Error('at import');\n`,
    'broken.js': `export const a = 1;\n\nexport default { name: 'x',, }\n`,
  });
  const { scrapers, problems, files } = await loadScrapers(folder);
  t.same(namesOf(scrapers), ['common', 'common-cjs', 'es', 'es-mjs', 'one', 'two', 'typed', 'uses-trawl']);
  const reasons = Object.fromEntries(problems.map(({ file, reason }) => [basename(file), reason]));
  t.match(reasons, {
    'broken.js': /^line 3: Unexpected token/,
    'broken.ts': /^line 3: Expression expected/,
    'throws.ts': 'line 5: at import',
  });
  t.equal(problems.length, 3, 'and the others are loaded');
  t.equal(files.get('typed'), join(folder, 'typed.ts'));
  t.equal(scrapers.find(({ name }) => name === 'uses-trawl')?.timeoutMs, 120_000);
});

t.test('several places: folders, files, packages', async (t) => {
  const folder = temporaryFolder(t);
  write(folder, {
    'first/a.mjs': plain('a'),
    'second/b.mjs': plain('b'),
    'second/a.mjs': plain('a'),
    'alone.mjs': plain('alone'),
    'node_modules/shop-scrapers/package.json': '{ "type": "module", "exports": "./all.js" }',
    'node_modules/shop-scrapers/all.js': `export const scrapers = [{ name: 'packed', run() {} }]`,
  });
  const before = process.cwd();
  process.chdir(folder);
  t.teardown(() => process.chdir(before));
  const { scrapers, problems } = await loadScrapers([
    'first',
    'second',
    'alone.mjs',
    'shop-scrapers',
    'none',
    '../none',
  ]);
  t.same(namesOf(scrapers), ['a', 'alone', 'b', 'packed']);
  t.match(problems, [
    { file: join('second', 'a.mjs'), reason: /a\.mjs has a scraper of the same name, a/ },
    { file: 'none', reason: /no folder that can be read, and no package/ },
    { file: '../none', reason: /no folder that can be read, and no package/ },
  ]);
});

t.test('templates are read by whoever can', async (t) => {
  const folder = temporaryFolder(t);
  write(folder, { 'shop.yaml': 'name: shop', 'bad.yml': 'name' });
  const readTemplate = (text: string, file: string): Scraper => {
    if (!text.includes(':')) throw new Error(`${basename(file)}:1:1: no`);
    return { name: text.slice(6), run: async () => 1 };
  };
  const { scrapers, problems } = await loadScrapers(folder, { readTemplate });
  t.same(namesOf(scrapers), ['shop']);
  t.match(problems, [{ file: join(folder, 'bad.yml'), reason: 'bad.yml:1:1: no' }]);
  t.same((await loadScrapers(folder)).scrapers, [], 'without a reader they are left alone');
});

t.test('a file that never finishes loading does not hold up the others', async (t) => {
  const folder = temporaryFolder(t);
  write(folder, { 'a.mjs': `await new Promise(() => {});\n${plain('a')}`, 'b.mjs': plain('b') });
  const { scrapers, problems } = await loadScrapers(folder, { fileMaxMs: 100 });
  t.same(namesOf(scrapers), ['b']);
  t.match(problems, [{ file: join(folder, 'a.mjs'), reason: /^it is not loaded after 0\.1 s: .*setup\(\)/ }]);
});

t.test('CommonJS has trawl where it is installed', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectRoot, join(folder, 'node_modules/trawl'));
  write(folder, {
    'package.json': '{ "type": "module" }',
    'old.cjs': `const { defineScraper } = require('trawl');
module.exports = defineScraper({ name: 'old', timeout: '2m', run: async () => 1 });`,
    'broken.cjs': `module.exports = { name: 'x',, }`,
  });
  const { scrapers, problems } = await loadScrapers(folder);
  t.match(scrapers, [{ name: 'old', timeoutMs: 120_000 }]);
  t.match(problems, [{ file: join(folder, 'broken.cjs'), reason: /line 1: / }]);
});

t.test('a package of its own that has trawl installed uses that one', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectRoot, join(folder, 'node_modules/trawl'));
  write(folder, {
    'own.mjs': `import { Failure, defineScraper } from 'trawl';
export default defineScraper({ name: 'own', run: async () => { throw new Failure('REJECTED', 'no') } });`,
  });
  const { scrapers, problems } = await loadScrapers(folder);
  t.same(problems, []);
  await t.rejects(async () => scrapers[0]?.run({} as Parameters<Scraper['run']>[0]), { code: 'REJECTED' });
});
