/** `trawl hosts`: what hosts ask of us, and which of them are closed. */
import { egressAnswers, type HostRow } from '../../client/egress-answers.ts';
import { Failure } from '../../domain/failure.ts';
import { given, readAge, readText, readWhole, requireText, type Arguments } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { renderHost, renderHosts } from '../egress-view.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withProxyManager } from '../with-connection.ts';

const AMOUNT = { min: 0, max: 1_000_000_000 };
const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function run(context: CommandContext): Promise<ExitCode> {
  switch (String(context.argv['action'])) {
    case 'ls':
      return list(context);
    case 'show':
      return show(context);
    case 'set':
      return set(context);
    case 'close':
      return close(context);
    default:
      return open(context);
  }
}

async function list(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const filter = given({ state: readText(argv, 'state') });
  const hosts = await withProxyManager(context, 'hosts', async (ask) => {
    const found: HostRow[] = [];
    for (let after: string | undefined; ;) {
      const page = await ask('hosts.ls', egressAnswers.hosts, { ...filter, ...given({ after }) });
      found.push(...page.hosts);
      after = page.next;
      if (after === undefined) return found;
    }
  });
  output.result({ hosts }, hosts.length === 0 ? 'No hosts.' : renderHosts(hosts, Date.now()));
  return EXIT.ok;
}

async function show(context: CommandContext): Promise<ExitCode> {
  const host = requireText(context.argv, 'host', 'trawl hosts show HOST');
  const found = await withProxyManager(context, 'hosts', (ask) =>
    ask('hosts.show', egressAnswers.host, { host }),
  );
  context.output.result(found, renderHost(found, Date.now()));
  return EXIT.ok;
}

async function set(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const host = requireText(argv, 'host', 'trawl hosts set HOST --delay 2s');
  const jitter = readWhole(argv, 'jitter', { min: 0, max: 1_000 });
  const limits = given({
    delayMs: readDelay(argv, 'delay'),
    egressDelayMs: readDelay(argv, 'egress-delay'),
    jitter: jitter === undefined ? undefined : jitter / 100,
    concurrency: readWhole(argv, 'concurrency', AMOUNT),
    perHour: readWhole(argv, 'per-hour', AMOUNT),
    perMinute: readWhole(argv, 'per-minute', AMOUNT),
    egressPerHour: readWhole(argv, 'egress-hour', AMOUNT),
    egressPerMinute: readWhole(argv, 'egress-minute', AMOUNT),
    throttleScope: readText(argv, 'throttle-scope'),
  });
  if (Object.keys(limits).length === 0)
    throw new Failure('INVALID', `what is to be set for ${host}?`, {
      hint: 'For example --delay 2s --concurrency 4; `trawl hosts --help` lists all.',
    });
  const found = await withProxyManager(context, 'hosts', (ask) =>
    ask('hosts.set', egressAnswers.host, { host, ...limits }),
  );
  output.result(found, renderHost(found, Date.now()));
  return EXIT.ok;
}

async function close(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const host = requireText(argv, 'host', 'trawl hosts close HOST --for 10m');
  const body = given({ host, forMs: readAge(argv, 'for'), reason: readText(argv, 'reason') });
  const answer = await withProxyManager(context, 'hosts', (ask) =>
    ask('hosts.close', egressAnswers.hostState, body),
  );
  const until = answer.until === undefined ? 'it is opened' : new Date(answer.until).toISOString();
  output.result(answer, `${answer.host} is closed until ${until}.`);
  return EXIT.ok;
}

async function open(context: CommandContext): Promise<ExitCode> {
  const host = requireText(context.argv, 'host', 'trawl hosts open HOST');
  const answer = await withProxyManager(context, 'hosts', (ask) =>
    ask('hosts.open', egressAnswers.hostState, { host }),
  );
  context.output.result(answer, `${answer.host} is open.`);
  return EXIT.ok;
}

/** `500ms`, `2s`, `1m`; 0 for none. */
function readDelay(argv: Arguments, name: string): number | undefined {
  const text = readText(argv, name);
  if (text === undefined) return undefined;
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text === '0' ? '0s' : text) ?? [];
  const ms = Math.round(Number(amount) * (MS_PER_UNIT[unit ?? ''] ?? NaN));
  if (ms >= 0 && ms <= 86_400_000) return ms;
  throw new Failure('INVALID', `--${name} must be a time such as 500ms, 2s or 1m, not ${text}`);
}
