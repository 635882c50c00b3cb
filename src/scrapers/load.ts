/** Loads the scrapers of a folder. A file that is broken is told, and does not keep the others from working. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { SELECTIONS, VIAS, WHEN_NONE } from '../domain/egress.ts';
import { messageOf } from '../domain/failure.ts';
import { compileRules } from '../policy/block-rules.ts';
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

const flag = (name: string) => v.optional(v.boolean(`${name} must be true or false`));
const oneOf = <const T extends readonly string[]>(name: string, options: T) =>
  v.optional(v.picklist(options, `${name} must be one of ${options.join(', ')}`));
const amount = (name: string) =>
  v.optional(v.pipe(v.number(`${name} must be a number`), v.minValue(0, `${name} must not be negative`)));

// A word that is spelled wrong would be a limit that nobody keeps.
const egress = v.strictObject(
  {
    via: oneOf('egress.via', VIAS),
    whenNone: oneOf('egress.whenNone', WHEN_NONE),
    select: oneOf('egress.select', SELECTIONS),
    exclusive: flag('egress.exclusive'),
    session: flag('egress.session'),
    stickTo: v.optional(v.function('egress.stickTo must be a function')),
  },
  ({ expected, path }) => unknownWord('egress', expected, path),
);
const caps = { perHour: amount('limits.perHour'), perMinute: amount('limits.perMinute') };
const limits = v.strictObject(
  {
    ...caps,
    delayMs: amount('limits.delayMs'),
    egressDelayMs: amount('limits.egressDelayMs'),
    jitter: amount('limits.jitter'),
    concurrency: amount('limits.concurrency'),
    egressCaps: v.optional(
      v.strictObject(
        {
          perHour: v.number('limits.egressCaps needs perHour'),
          perMinute: v.number('limits.egressCaps needs perMinute'),
        },
        'limits.egressCaps must be { perHour, perMinute }',
      ),
    ),
  },
  ({ expected, path }) => unknownWord('limits', expected, path),
);

function unknownWord(
  part: string,
  expected: string | null,
  path: readonly [{ readonly key?: unknown }, ...unknown[]] | undefined,
): string {
  const key = path?.[0].key;
  return expected === 'never' ? `${part} has no ${String(key)}` : `${part} must be an object`;
}

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
    egress: v.optional(egress),
    limits: v.optional(limits),
    robots: v.optional(v.boolean('robots must be true or false')),
    blocks: v.optional(v.array(v.looseObject({}), 'blocks must be a list of rules')),
    classify: v.optional(v.function('classify must be a function')),
    validate: v.optional(v.function('validate must be a function')),
    isSessionValid: v.optional(v.function('isSessionValid must be a function')),
    refreshSession: v.optional(v.function('refreshSession must be a function')),
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
  // A pattern that cannot be read is told now, not by the first page.
  compileRules(parsed.output.blocks ?? []);
  // The object itself, not what was read from it: its run may use `this`.
  return candidate as Scraper;
}
