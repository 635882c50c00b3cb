/** `trawl call`: one scrape now, its answer on stdout, nothing of it stored. */
import type { CallResult } from '../../client/answers.ts';
import { Failure, messageOf } from '../../domain/failure.ts';
import { STRATEGIES } from '../../policy/route-call.ts';
import { given, readAge, readText, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withClient } from '../with-connection.ts';

const USAGE = 'trawl call SCRAPER --url URL';

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const scraper = requireText(argv, 'scraper', USAGE);
  const task = given({ url: readText(argv, 'url'), key: readText(argv, 'key'), input: readInput(context) });
  if (Object.keys(task).length === 0)
    throw new Failure('INVALID', 'there is nothing to scrape', { hint: 'Give --url, --key or --input.' });
  const strategy = STRATEGIES.find((each) => each === argv['strategy']);
  const timeoutMs = readAge(argv, 'timeout');
  const answer = await withClient(context, 'call', ({ client }) =>
    client.call(scraper, task, { strategy, timeoutMs }),
  );
  if (answer.state === 'done' || output.json) output.result(answer, describe(answer));
  else process.stderr.write(`trawl: ${describeFault(answer)}\n`);
  return answer.state === 'done' ? EXIT.ok : EXIT.failure;
}

function readInput({ argv }: CommandContext): Readonly<Record<string, unknown>> | undefined {
  const text = readText(argv, 'input');
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new Failure('INVALID', `--input is not JSON: ${messageOf(cause)}`, { cause });
  }
  throw new Failure('INVALID', '--input must be a JSON object');
}

function describe({ items, data, worker, ms }: CallResult): string {
  if (items.length > 0) return items.map((item) => JSON.stringify(item)).join('\n');
  return data === undefined ? `No items (${worker}, ${ms} ms).` : JSON.stringify(data);
}

function describeFault({ error, worker, ms }: CallResult): string {
  return `${error?.code ?? 'INTERNAL'}: ${error?.message ?? 'it failed'} (${worker}, ${ms} ms)`;
}
