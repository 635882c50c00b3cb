/** `trawl new`: writes a scraper to begin with, and its test. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, messageOf } from '../../domain/failure.ts';
import { TOKEN } from '../../wire/names.ts';
import { requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planNewScraper, type NewKind } from '../new-scraper.ts';

export async function run({ argv, config, output }: CommandContext): Promise<ExitCode> {
  const name = requireText(argv, 'name', 'trawl new <name>');
  if (!TOKEN.test(name))
    throw new Failure('INVALID', `a scraper has a name of 1 to 64 letters, digits, - and _, not ${name}`);
  if (argv['template'] === true && argv['ts'] === true)
    throw new Failure('INVALID', 'a template has no code, so it is not in TypeScript', {
      hint: 'Give --ts or --template, not both.',
    });
  const kind: NewKind = argv['template'] === true ? 'template' : argv['ts'] === true ? 'ts' : 'js';
  const [folder = '.'] = config.worker.scrapers;
  const files = planNewScraper(name, kind).map((file) => ({ ...file, path: join(folder, file.name) }));
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of files) write(path, text);
  const [scraper = '', test = ''] = files.map(({ path }) => path);
  const steps = [`npx trawl try ${name} --url https://example.com/`, `node --test ${test}`];
  output.result({ name, scraper, test, next: steps }, describe(scraper, test, steps));
  return EXIT.ok;
}

/** Never over something that is there. */
function write(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (cause) {
    const isThere = (cause as { readonly code?: unknown }).code === 'EEXIST';
    throw new Failure(
      isThere ? 'CONFLICT' : 'INVALID',
      isThere ? `${path} is there already` : messageOf(cause),
      { cause, ...(isThere && { hint: 'Take another name, or remove the file first.' }) },
    );
  }
}

function describe(scraper: string, test: string, [first = '', second = '']: readonly string[]): string {
  return [
    `Wrote ${scraper} and ${test}.`,
    '',
    'Next:',
    `  ${first.padEnd(58)} # one page, here and now`,
    `  ${second.padEnd(58)} # its test`,
    '  Workers load it when they start: make cluster-down cluster-up.',
  ].join('\n');
}
