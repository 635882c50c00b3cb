/** The registry of scrapers: a YAML file that says where the runs of each take place. All that is wrong in it is told at once, by line. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure, messageOf } from '../domain/failure.ts';
import { MODES, type Mode } from '../domain/mode.ts';
import { dictionary, oneOf, record } from './shape.ts';
import { parseYamlTree } from './yaml-tree.ts';

export interface RegistryEntry {
  /** Absent: the scraper says it itself, or it is single. */
  readonly mode?: Mode;
}
export type ScraperRegistry = Readonly<Record<string, RegistryEntry>>;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const shape = dictionary(record({ mode: oneOf(MODES) }), {
  isKey: (text) => NAME.test(text),
  allowed: 'the name of a scraper: 1 to 64 letters, digits, - and _',
});

/** A file that is not there is an empty one. Throws `INVALID` with all problems. */
export function readScraperRegistry(path: string, cwd: string): ScraperRegistry {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, path), 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
    throw new Failure('INVALID', `registry: ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return parseScraperRegistry(text, path);
}

export function parseScraperRegistry(text: string, file: string): ScraperRegistry {
  const tree = parseYamlTree(text, file);
  if (!tree.ok) throw refuse(tree.problems);
  if (tree.root.kind === 'empty') return {};
  const problems: string[] = [];
  const read = shape(
    tree.root,
    ({ line, column }, problem) => problems.push(`${file}:${line}:${column}: ${problem}`),
    'the registry',
  );
  if (problems.length > 0) throw refuse(problems);
  return read ?? {};
}

function refuse(problems: readonly string[]): Failure {
  return new Failure(
    'INVALID',
    ['The registry of scrapers has problems:', ...problems.map((line) => `  ${line}`)].join('\n'),
    { hint: 'config/examples/countries/registry.yaml shows how it is written.' },
  );
}
