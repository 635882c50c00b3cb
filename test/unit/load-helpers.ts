/**
 * Files beside a scraper may be all that scrapers may be. Each case has a process of its own: what one file needed of the
 * loader is there for all files after it.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

interface Seen {
  readonly names: readonly string[];
  readonly problems: readonly { readonly reason: string }[];
  readonly returned: unknown;
  readonly helped: boolean;
}

const loader = pathToFileURL(join(projectRoot, 'dist/src/scrapers/load.js')).href;
const script = `
import { loadScrapers } from ${JSON.stringify(loader)};
const { scrapers, problems } = await loadScrapers(process.argv[1]);
const names = scrapers.map(({ name }) => name);
const returned = await scrapers[0]?.run({});
console.log(JSON.stringify({ names, problems, returned, helped: process.sourceMapsEnabled }));
`;

function loadFrom(folder: string): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const words = ['--input-type=module', '-e', script, join(folder, 'scrapers')];
    execFile(process.execPath, words, { timeout: 30_000 }, (error, out, said) => {
      if (error) reject(new Error(said, { cause: error }));
      else resolve(JSON.parse(out) as Seen);
    });
  });
}

const user = (imports: string): string =>
  `${imports}\nexport default { name: 'user', run: async () => part() };\n`;
const typed = `interface Part { n: number }\nexport const part = (): number => ({ n: 7 } as Part).n;\n`;
const failing = `import { Failure } from 'trawl';\nexport const part = () => new Failure('REJECTED', 'no').code;\n`;

const cases: Readonly<Record<string, { files: Readonly<Record<string, string>>; returned: unknown }>> = {
  'trawl, where it is not installed': {
    files: {
      'scrapers/user.mjs': user(`import { part } from './_part.mjs';`),
      'scrapers/_part.mjs': failing,
    },
    returned: 'REJECTED',
  },
  'trawl, imported by a helper of a helper elsewhere': {
    files: {
      'scrapers/user.mjs': user(`import { part } from '../lib/first.mjs';`),
      'lib/first.mjs': `export { part } from './second.mjs';`,
      'lib/second.mjs': failing,
    },
    returned: 'REJECTED',
  },
  'TypeScript, from a scraper in JavaScript': {
    files: { 'scrapers/user.mjs': user(`import { part } from './_part.ts';`), 'scrapers/_part.ts': typed },
    returned: 7,
  },
  'TypeScript, when it runs': {
    files: {
      'scrapers/user.mjs': user(
        `const part = async () => (await import(new URL('./_part.ts', import.meta.url))).part();`,
      ),
      'scrapers/_part.ts': typed,
    },
    returned: 7,
  },
  'trawl itself, when it runs': {
    files: { 'scrapers/user.mjs': user(`const part = async () => typeof (await import('trawl')).Failure;`) },
    returned: 'function',
  },
  'an ES module that its package declares to be CommonJS': {
    files: {
      'package.json': '{ "type": "commonjs" }',
      'scrapers/user.mjs': user(`import { part } from './_part.js';`),
      'scrapers/_part.js': `export const part = () => 7;\n`,
    },
    returned: 7,
  },
};

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

for (const [name, { files, returned }] of Object.entries(cases))
  t.test(`a helper file: ${name}`, async (t) => {
    const folder = temporaryFolder(t);
    write(folder, files);
    t.match(await loadFrom(folder), { names: ['user'], problems: [], returned, helped: true });
  });

t.test('a scraper that stands alone costs no help', async (t) => {
  const folder = temporaryFolder(t);
  write(folder, {
    'scrapers/alone.mjs': `import { join } from 'node:path';
export default { name: 'alone', start: ['https://site.test/'], run: async () => join('a', './b') };`,
  });
  t.match(await loadFrom(folder), { names: ['alone'], problems: [], returned: 'a/b', helped: false });
});
