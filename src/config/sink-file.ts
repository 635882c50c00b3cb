/** The file of `sinks.file`: sinks by name, as YAML. Everything that is wrong in it is told at once, by line. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure, messageOf } from '../domain/failure.ts';
import type { SinkSpec } from '../domain/sink.ts';
import { readSinkWords, type SinkContext } from './sink-words.ts';
import type { Raw } from './parsers.ts';
import { parseYamlTree, type Place, type YamlValue } from './yaml-tree.ts';

/** Throws INVALID with all problems. */
export function readSinkFile(path: string, context: SinkContext): SinkSpec[] {
  let text: string;
  try {
    text = readFileSync(resolve(context.cwd, path), 'utf8');
  } catch (cause) {
    throw new Failure('INVALID', `sinks.file: ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  const { sinks, problems } = parseSinkFile(text, path, context);
  if (problems.length === 0) return sinks;
  throw new Failure(
    'INVALID',
    ['The sinks have problems:', ...problems.map((line) => `  ${line}`)].join('\n'),
    {
      hint: 'config/sinks.yaml shows how they are written.',
    },
  );
}

export function parseSinkFile(
  text: string,
  path: string,
  context: SinkContext,
): { sinks: SinkSpec[]; problems: string[] } {
  const tree = parseYamlTree(text, path);
  if (!tree.ok) return { sinks: [], problems: [...tree.problems] };
  const sinks: SinkSpec[] = [];
  const problems: string[] = [];
  const report = ({ line, column }: Place, problem: string): void =>
    void problems.push(`${path}:${line}:${column}: ${problem}`);
  if (tree.root.kind === 'empty') return { sinks, problems };
  if (tree.root.kind !== 'map') {
    report(tree.root.at, 'the file must hold lines of "name:", with the words of a sink below');
    return { sinks, problems };
  }
  for (const { key: name, keyAt, value } of tree.root.entries) {
    if (value.kind !== 'map') {
      report(keyAt, `the sink ${name} must be lines of "key: value"`);
      continue;
    }
    const words = Object.fromEntries(value.entries.map((entry) => [entry.key, rawOf(entry.value)]));
    const places = new Map(value.entries.map((entry) => [entry.key, entry.keyAt]));
    const read = readSinkWords(name, words, context);
    if (read.ok) sinks.push(read.spec);
    else for (const { word, problem } of read.problems) report(places.get(word ?? '') ?? keyAt, problem);
  }
  return { sinks, problems };
}

function rawOf(value: YamlValue): Raw {
  if (value.kind === 'scalar') return value.text;
  if (value.kind === 'list') return value.items.map((item) => (item.kind === 'scalar' ? item.text : ''));
  return '';
}
