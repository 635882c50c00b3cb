/** What we install: nothing that runs scripts, nothing for one platform only, nothing that is not used. */
import t from 'tap';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';

interface Locked {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: string[];
  readonly resolved?: string;
  readonly engines?: { readonly node?: string };
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(projectRoot, file), 'utf8'));
const { dependencies } = read('package.json') as { dependencies: Record<string, string> };
const packagesOf = (file: string): Record<string, Locked> =>
  (read(file) as { packages: Record<string, Locked> }).packages;
const source = readdirSync(join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(projectRoot, 'src', file), 'utf8'))
  .join('\n');

t.test('the lock files install the same everywhere, without scripts', async (t) => {
  const all = ['package-lock.json', 'test/bench/package-lock.json'].map((file) => packagesOf(file));
  for (const [path, locked] of all.flatMap((packages) => Object.entries(packages))) {
    t.notOk(locked.hasInstallScript, `${path} runs no install script`);
    t.equal(locked.resolved, undefined, `${path} names no registry`);
    // npm's own choice of a native package per platform would make the lock file differ between machines.
    if (locked.dev !== true) t.equal(locked.os, undefined, `${path} is for every platform`);
  }
});

t.test('every dependency has an exact version and is imported', async (t) => {
  for (const [name, version] of Object.entries(dependencies)) {
    t.match(version, /^\d+\.\d+\.\d+(-\d+)?$/, `${name} ${version}`);
    t.match(source, new RegExp(`from '${name}['/]`), `${name} is imported`);
  }
});
