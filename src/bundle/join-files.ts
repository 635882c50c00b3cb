/** The files of a program, with all that they import, in one folder; what several of them need is shared between them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface JoinOptions {
  /** Name of the file that is written → the file that it begins with, without `.js`, in `compiled`. */
  readonly entries: Readonly<Record<string, string>>;
  readonly compiled: string;
  readonly into: string;
}

type Bundler = Pick<typeof import('rolldown'), 'rolldown'>;

/** Loaded when they are used, and from where they are then; or not there at all. */
const OUTSIDE = ['playwright-core', 'typescript', 'rolldown'];

/** False: the bundler has no build for this platform. */
export async function joinFiles(
  { entries, compiled, into }: JoinOptions,
  load: () => Promise<Bundler> = () => import('rolldown'),
): Promise<boolean> {
  let bundler: Bundler;
  try {
    bundler = await load();
  } catch {
    return false;
  }
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, join(compiled, `${file}.js`)]),
  );
  const build = await bundler.rolldown({ input, platform: 'node', external: OUTSIDE, logLevel: 'warn' });
  await build.write({
    dir: into,
    cleanDir: true,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'part-[name]-[hash].js',
  });
  await build.close();
  return true;
}

/** The program as it was compiled: slower to start, and the same otherwise. */
export function linkFiles({ entries, compiled, into }: JoinOptions): void {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  for (const [name, file] of Object.entries(entries)) {
    const target = relative(into, join(compiled, `${file}.js`));
    writeFileSync(join(into, `${name}.js`), `#!/usr/bin/env node\nexport * from '${target}';\n`);
  }
}
