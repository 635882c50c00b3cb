/**
 * Imports the file of a scraper. TypeScript, ES modules that their package declares to be CommonJS, and `trawl` itself
 * where it is not installed need help from the hooks in `module-hooks.ts`, which are set up for the first file that may need
 * them, itself or in what it imports.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Failure, messageOf } from '../domain/failure.ts';
import { program } from '../program.ts';
import { isEsModule, stripsTypes } from './module-kind.ts';

type Module = Readonly<Record<string, unknown>>;

const TYPESCRIPT = /\.m?ts$/;
const IMPORTS_TRAWL = /\b(?:from|import)\s*\(?\s*['"]trawl(?:\/testing)?['"]/;
/** Files beside it, or whatever it finds out when it runs. */
const IMPORTS_FILES =
  /\b(?:from|import|require)\s*\(?\s*['"`](?:\.{0,2}\/|file:|#)|\b(?:import|require)\s*\(\s*[^'"`\s]/;
const CHECK_MAX_MS = 10_000;
let registered = false;

/** Throws `INVALID` with what is wrong, and the line if that can be found out. */
export async function importModule(path: string, maxMs: number): Promise<Module> {
  try {
    if (!registered && needsHooks(path, await readFile(path, 'utf8'))) registerHooks();
    return await inTime(import(pathToFileURL(path).href) as Promise<Module>, maxMs);
  } catch (error) {
    const line = (await lineOfSyntax(error, path)) ?? lineIn(error, path);
    const where = line === undefined ? '' : `line ${line}: `;
    throw new Failure('INVALID', `${where}${messageOf(error)}`, { cause: error });
  }
}

/**
 * The hooks cost a thread, and modules that were imported without them cannot be imported again: so they are there
 * before a file that imports others, since any of those may need them, and not for the many that stand alone.
 */
function needsHooks(path: string, source: string): boolean {
  if (IMPORTS_FILES.test(source)) return true;
  if (TYPESCRIPT.test(path)) return !stripsTypes() || !canImportTrawl(path, source);
  return isEsModule(path, source) === 'declared-otherwise' || !canImportTrawl(path, source);
}

function canImportTrawl(path: string, source: string): boolean {
  if (!IMPORTS_TRAWL.test(source)) return true;
  try {
    createRequire(path).resolve('trawl');
    return true;
  } catch {
    return false;
  }
}

function registerHooks(): void {
  registered = true;
  const own = (path: string): string => pathToFileURL(path).href;
  register(own(program.moduleHooks), {
    data: { trawl: own(program.index), 'trawl/testing': own(program.testing) },
  });
  // So that errors name the lines of the file as it was written.
  process.setSourceMapsEnabled(true);
}

/** Whoever waits at the top of a file, for a service that does not answer, must not hold up all other scrapers. */
async function inTime(module: Promise<Module>, maxMs: number): Promise<Module> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = maxMs / 1_000;
    const reason = `it is not loaded after ${seconds} s: what it awaits at its top does not come. Wait in setup() instead.`;
    timer = setTimeout(() => reject(new Error(reason)), maxMs);
  });
  return Promise.race([module, late]).finally(() => clearTimeout(timer));
}

/** Where it was thrown. */
function lineIn(error: unknown, path: string): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const place of [pathToFileURL(path).href, path]) {
    const at = stack.indexOf(`${place}:`);
    const line = at === -1 ? undefined : /^\d+/.exec(stack.slice(at + place.length + 1))?.[0];
    if (line !== undefined) return line;
  }
  return undefined;
}

/** Of an ES module that it cannot parse Node tells the line on its own screen only. */
async function lineOfSyntax(error: unknown, path: string): Promise<string | undefined> {
  if (!(error instanceof SyntaxError) || TYPESCRIPT.test(path)) return undefined;
  const source = await readFile(path, 'utf8');
  if (isEsModule(path, source) === false) return undefined;
  return new Promise((resolve) => {
    const words = ['--input-type=module', '--check', '-'];
    const check = execFile(process.execPath, words, { timeout: CHECK_MAX_MS }, (_error, _out, said) =>
      resolve(/^\[stdin\]:(\d+)/m.exec(said)?.[1]),
    );
    check.stdin?.on('error', () => undefined).end(source);
  });
}
