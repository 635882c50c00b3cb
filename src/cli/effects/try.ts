/** `trawl try`: one task of a scraper, here and now, without the cluster. */
import { loadConfiguredScrapers } from '../../cluster/load-scrapers.ts';
import type { Config } from '../../config/fields.ts';
import { Failure } from '../../domain/failure.ts';
import { noop } from '../../scrapers/noop.ts';
import type { Scraper } from '../../scrapers/scraper.ts';
import { createLocalFetcher, loopbackOf } from '../../testing/local-fetcher.ts';
import { runOnce } from '../../testing/run-once.ts';
import { readText, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { chooseProxy } from '../choose-proxy.ts';
import { describeTry, type TryReport } from '../try-report.ts';

const FILE = /[/\\]|\.(?:m?[jt]s|ya?ml)$/;

export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, config, log, output } = context;
  const name = requireText(argv, 'name', 'trawl try <name> --url https://example.com/');
  const url = readText(argv, 'url');
  const input = readInput(readText(argv, 'input'));
  const { scraper, file } = await find(name, config);
  const proxy = chooseProxy(scraper, context);
  const { fetcher, requests } = createLocalFetcher({ config: allowTyped(config, url), log, proxy });
  try {
    const outcome = await runOnce(
      scraper,
      { url, input },
      { fetcher, log, timeoutMs: config.tasks.timeout, signal: context.interrupts() },
    );
    const report: TryReport = { scraper: scraper.name, file, url, proxy, requests, outcome };
    const { value, text } = describeTry(report);
    output.result(value, text);
    return outcome.error ? EXIT.failure : EXIT.ok;
  } finally {
    await fetcher.close();
  }
}

async function find(name: string, config: Config): Promise<{ scraper: Scraper; file: string }> {
  const places = FILE.test(name) ? [name] : config.worker.scrapers;
  const { scrapers, problems, files } = await loadConfiguredScrapers({
    worker: { ...config.worker, scrapers: places },
  });
  const scraper = FILE.test(name) ? scrapers[0] : [...scrapers, noop].find((each) => each.name === name);
  if (scraper) return { scraper, file: files.get(scraper.name) ?? 'built in' };
  const broken = problems.map(({ file, reason }) => `${file}: ${reason}`);
  throw new Failure(
    'INVALID',
    [`there is no scraper ${name} in ${places.join(', ')}`, ...broken].join('\n  '),
    {
      hint: `Known here: ${scrapers.map((each) => each.name).join(', ') || 'none'}. \`trawl new ${name}\` writes one.`,
    },
  );
}

function readInput(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {
    // Told below, in the same words.
  }
  throw new Failure('INVALID', `--input must be an object of JSON, not ${text.slice(0, 80)}`, {
    hint: 'Such as --input \'{"page":2}\'.',
  });
}

/** A person who types an address of this machine means it. */
function allowTyped(config: Config, url: string | undefined): Config {
  const loopback = url === undefined ? undefined : loopbackOf(url);
  if (loopback === undefined) return config;
  const allowLoopback = [...(config.fetch.allowLoopback ?? []), loopback];
  return { ...config, fetch: { ...config.fetch, allowLoopback } };
}
