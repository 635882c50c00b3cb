/** `trawl sink`: runs one sink in this process until told to stop. */
import { readSinkFile } from '../../config/sink-file.ts';
import { readSinkWords, SINK_WORDS, type SinkWords } from '../../config/sink-words.ts';
import { Failure } from '../../domain/failure.ts';
import type { SinkSpec } from '../../domain/sink.ts';
import { readText, readTexts, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { actOut } from './actor.ts';

export async function run(context: CommandContext): Promise<ExitCode> {
  if (context.singleFolder !== undefined && context.argv['until-empty'] !== true)
    throw new Failure(
      'INVALID',
      `the run in ${context.singleFolder} has a server only while it is worked on or looked at`,
      {
        hint: 'Add --until-empty: that delivers what is there, and ends; the next time it goes on behind that.',
      },
    );
  return actOut('sink', readSpec(context))(context);
}

function readSpec({ argv, config }: CommandContext): SinkSpec {
  const name = requireText(argv, 'name', 'trawl sink NAME --type ndjson --path out');
  const words = wordsOf(argv);
  const context = { env: process.env, cwd: process.cwd() };
  if (words['type'] !== undefined) {
    const read = readSinkWords(name, words, context);
    if (read.ok) return read.spec;
    throw new Failure('INVALID', read.problems.map(({ problem }) => problem).join('\n'), {
      hint: '`trawl sink --help` shows how.',
    });
  }
  const [extra] = Object.keys(words);
  if (config.sinks.file === undefined || extra !== undefined)
    throw new Failure('INVALID', `which type of sink is ${name}?`, {
      hint: 'Give --type and what belongs to it, or describe it in the file of sinks.file.',
    });
  const found = readSinkFile(config.sinks.file, context).find((sink) => sink.name === name);
  if (found) return found;
  throw new Failure('INVALID', `${config.sinks.file} describes no sink ${name}`);
}

function wordsOf(argv: CommandContext['argv']): SinkWords {
  const words: Record<string, string | string[]> = {};
  for (const word of SINK_WORDS) {
    const flag = word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (argv[flag] === undefined) continue;
    if (word === 'kind' || word === 'columns') words[word] = readTexts(argv, flag);
    else
      words[word] =
        argv[flag] === true ? 'true' : argv[flag] === false ? 'false' : (readText(argv, flag) ?? '');
  }
  return words;
}
