/** The folder of a local cluster: made and marked as ours, refused when it is somebody else's. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { parse, resolve } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { clusterNameOf, HOME_ENTRIES, planLayout, type Layout } from './layout.ts';

/** The layout of a home that may not exist. */
export function layoutOf(home: string): Layout {
  const asked = resolve(home);
  const path = existsSync(asked) ? realpathSync(asked) : asked;
  if (path === parse(path).root || path === resolve(homedir())) {
    throw new Failure('INVALID', `${path} cannot be the home of a local cluster`, {
      hint: 'Give it a folder of its own, for example --home .trawl',
    });
  }
  return planLayout({ home: path, shortFolder: `/tmp/trawl-${process.getuid?.() ?? 0}` });
}

/** Makes the folder if need be. Files that are already there under our names are not ours: we would delete them later. */
export function openHome(home: string): Layout {
  const first = layoutOf(home);
  mkdirSync(first.home, { recursive: true, mode: 0o700 });
  const layout = layoutOf(home);
  if (!isOurs(layout)) {
    const taken = readdirSync(layout.home).filter((name) => HOME_ENTRIES.test(name));
    if (taken.length > 0) throw foreign(layout, taken);
    writeFileSync(layout.marker, `${JSON.stringify({ cluster: clusterNameOf(layout.home) })}\n`, {
      mode: 0o600,
    });
  }
  return layout;
}

export function isOurs(layout: Layout): boolean {
  return existsSync(layout.marker);
}

/** The name the cluster got when its home was made: its servers know each other by it, also after the folder moved. */
export function readClusterName(layout: Layout): string {
  try {
    const { cluster } = JSON.parse(readFileSync(layout.marker, 'utf8')) as { cluster?: unknown };
    if (typeof cluster === 'string' && cluster !== '') return cluster;
  } catch {
    // An empty marker still marks; the name is then the one it would get today.
  }
  return clusterNameOf(layout.home);
}

/**
 * The folder for sockets whose own home has too long a path. Always the same one: the temporary folder of the
 * environment differs between shells, and `down` must find what `up` made.
 */
export function openSocketFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(folder);
  if (uid !== (process.getuid?.() ?? uid)) {
    throw new Failure('REJECTED', `${folder} belongs to another user`, {
      hint: 'Choose a --home with a shorter path.',
    });
  }
}

export function foreign(layout: Layout, names: readonly string[]): Failure {
  return new Failure('INVALID', `${layout.home} was not made by Trawl and holds ${names.join(', ')}`, {
    hint: 'Give the cluster a folder of its own with --home.',
  });
}
