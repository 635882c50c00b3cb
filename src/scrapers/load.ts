/** Loads the scrapers of folders, files and packages. What is broken is told, and does not keep the others from working. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { asFailure } from '../domain/failure.ts';
import { findSources, type Source } from './find-sources.ts';
import { importModule } from './import-module.ts';
import type { Scraper } from './scraper.ts';
import { parseScraper } from './scraper-shape.ts';

export interface LoadProblem {
  readonly file: string;
  readonly reason: string;
}

export interface Loaded {
  readonly scrapers: readonly Scraper[];
  readonly problems: readonly LoadProblem[];
  /** Where each of them is from, by name. */
  readonly files: ReadonlyMap<string, string>;
}

export interface LoadOptions {
  /** YAML → a scraper; absent: templates are left alone. */
  readonly readTemplate?: ((text: string, file: string) => Scraper) | undefined;
  /** How long one file may take. */
  readonly fileMaxMs?: number;
}

type Module = Readonly<Record<string, unknown>>;

const FILE_MAX_MS = 15_000;

export async function loadScrapers(
  places: string | readonly string[],
  { readTemplate, fileMaxMs = FILE_MAX_MS }: LoadOptions = {},
): Promise<Loaded> {
  const scrapers: Scraper[] = [];
  const problems: LoadProblem[] = [];
  const files = new Map<string, string>();
  for (const place of typeof places === 'string' ? [places] : places) {
    const found = await findSources(place);
    if (!found.ok) problems.push({ file: place, reason: found.reason });
    else for (const source of found.sources) await load(source);
  }
  return { scrapers, problems, files };

  async function load(source: Source): Promise<void> {
    const { file } = source;
    try {
      for (const scraper of await read(source)) {
        const other = files.get(scraper.name);
        if (other === undefined) {
          files.set(scraper.name, file);
          scrapers.push(scraper);
        } else problems.push({ file, reason: `${other} has a scraper of the same name, ${scraper.name}` });
      }
    } catch (error) {
      problems.push({ file, reason: asFailure(error).message });
    }
  }

  async function read({ file, kind }: Source): Promise<readonly Scraper[]> {
    if (kind === 'template') {
      const text = readTemplate && (await readFile(file, 'utf8'));
      return readTemplate && text !== undefined ? [readTemplate(text, file)] : [];
    }
    return exportsOf(await importModule(resolve(file), fileMaxMs)).map(parseScraper);
  }
}

/** One as default or under the name `scraper`; several under the name `scrapers`. */
function exportsOf(module: Module): readonly unknown[] {
  const { scrapers } = module;
  if (Array.isArray(scrapers)) return scrapers as unknown[];
  return [module['default'] ?? module['scraper']];
}
