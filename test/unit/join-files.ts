/** The built program: joined into few files, or, where the bundler has no build for the platform, as it was compiled. */
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinFiles, linkFiles } from '../../src/bundle/join-files.ts';
import { temporaryFolder, type Teardown } from '../kit/nats-server.ts';

function writeSource(t: Teardown): { compiled: string; into: string; entries: Record<string, string> } {
  const folder = temporaryFolder(t);
  const compiled = join(folder, 'compiled');
  mkdirSync(join(compiled, 'cli'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(compiled, 'word.js'), "export const word = 'hello';\n");
  writeFileSync(join(compiled, 'cli/say.js'), "import { word } from '../word.js';\nconsole.log(word);\n");
  return { compiled, into: join(folder, 'program'), entries: { say: 'cli/say', word: 'word' } };
}

const run = (folder: string): string => execFileSync(process.execPath, [join(folder, 'say.js')]).toString();

t.test('one folder holds all that an entry imports, and what is older is gone', async (t) => {
  const options = writeSource(t);
  mkdirSync(options.into);
  writeFileSync(join(options.into, 'old.js'), '');
  t.equal(await joinFiles(options), true);
  t.notOk(readdirSync(options.into).includes('old.js'));
  t.equal(run(options.into), 'hello\n');
});

t.test('without the bundler the program is what was compiled', async (t) => {
  const options = writeSource(t);
  t.equal(await joinFiles(options, () => Promise.reject(new Error('no build for this platform'))), false);
  linkFiles(options);
  t.same(readdirSync(options.into), ['say.js', 'word.js']);
  t.equal(run(options.into), 'hello\n');
});
