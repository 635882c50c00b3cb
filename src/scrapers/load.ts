/** Loads the scrapers of a folder. A file that is broken is told, and does not keep the others from working. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { messageOf } from '../domain/failure.ts';
import { TOKEN } from '../wire/names.ts';
import type { Scraper } from './scraper.ts';

export interface LoadProblem {
  readonly file: string;
  readonly reason: string;
}

export interface Loaded {
  readonly scrapers: readonly Scraper[];
  readonly problems: readonly LoadProblem[];
}

const MODULE = /\.m?js$/;

const shape = v.object(
  {
    name: v.pipe(
      v.string('a scraper needs a name'),
      v.regex(TOKEN, 'its name must be 1 to 64 letters, digits, - and _'),
    ),
    timeoutMs: v.optional(
      v.pipe(v.number('timeoutMs must be a number'), v.minValue(1, 'timeoutMs must be positive')),
    ),
    retries: v.optional(
      v.pipe(
        v.number('retries must be a number'),
        v.integer('retries must be whole'),
        v.minValue(0, 'retries must not be negative'),
      ),
    ),
    run: v.function('a scraper needs a function run(context)'),
  },
  'it exports no scraper: export one as default, or under the name `scraper`',
);

export async function loadScrapers(folder: string): Promise<Loaded> {
  const scrapers: Scraper[] = [];
  const problems: LoadProblem[] = [];
  const byName = new Map<string, string>();
  for (const file of await listModules(folder, problems)) {
    try {
      const scraper = await loadScraper(join(folder, file));
      const other = byName.get(scraper.name);
      if (other !== undefined) {
        problems.push({ file, reason: `${other} has a scraper of the same name, ${scraper.name}` });
        continue;
      }
      byName.set(scraper.name, file);
      scrapers.push(scraper);
    } catch (error) {
      problems.push({ file, reason: messageOf(error) });
    }
  }
  return { scrapers, problems };
}

async function listModules(folder: string, problems: LoadProblem[]): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => MODULE.test(file)).sort();
  } catch (error) {
    problems.push({ file: folder, reason: `the folder cannot be read: ${messageOf(error)}` });
    return [];
  }
}

async function loadScraper(path: string): Promise<Scraper> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as Readonly<Record<string, unknown>>;
  const candidate = module['default'] ?? module['scraper'];
  const parsed = v.safeParse(shape, candidate);
  if (!parsed.success) throw new Error(parsed.issues.map(({ message }) => message).join('; '));
  // The object itself, not what was read from it: its run may use `this`.
  return candidate as Scraper;
}
