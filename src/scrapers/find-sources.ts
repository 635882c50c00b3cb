/** A folder, a file or a package → the files in which scrapers are. */
import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { messageOf } from '../domain/failure.ts';

export interface Source {
  /** As a person would write it. */
  readonly file: string;
  readonly kind: 'module' | 'template';
}

export type FoundSources =
  | { readonly ok: true; readonly sources: readonly Source[] }
  | { readonly ok: false; readonly reason: string };

const MODULE = /\.(?:m?[jt]s|cjs)$/;
const TEMPLATE = /\.ya?ml$/;
/** Tests, declarations, and what begins with `_` or a dot: parts that scrapers share. */
const NO_SCRAPER = /^[._]|\.(?:test|spec)\.(?:m?[jt]s|cjs)$|\.d\.m?ts$/;
const PACKAGE = /^(?:@[\w.-]+\/)?[\w.-]+(?:\/[\w./-]+)?$/;

export async function findSources(place: string): Promise<FoundSources> {
  try {
    const found = await stat(place);
    if (!found.isDirectory()) return { ok: true, sources: [sourceOf(place)] };
    const names = await readdir(place);
    const files = names.filter((name) => kindOf(name) !== undefined && !NO_SCRAPER.test(name)).sort();
    return { ok: true, sources: files.map((name) => sourceOf(join(place, name))) };
  } catch (error) {
    const path = findPackage(place);
    if (path !== undefined) return { ok: true, sources: [{ file: path, kind: 'module' }] };
    return {
      ok: false,
      reason: `it is no folder that can be read, and no package: ${messageOf(error)}`,
    };
  }
}

function kindOf(name: string): Source['kind'] | undefined {
  if (TEMPLATE.test(name)) return 'template';
  return MODULE.test(name) ? 'module' : undefined;
}

function sourceOf(file: string): Source {
  return { file, kind: kindOf(file) ?? 'module' };
}

/** As a file in the folder where the program was started would find it. */
function findPackage(name: string): string | undefined {
  if (!PACKAGE.test(name)) return undefined;
  try {
    return createRequire(resolve('any.js')).resolve(name);
  } catch {
    return undefined;
  }
}
