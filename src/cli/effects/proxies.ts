/** `trawl proxies`: the pool of proxies, and how each of them is doing. */
import { egressAnswers, type ProxyAnswer } from '../../client/egress-answers.ts';
import { Failure } from '../../domain/failure.ts';
import { given, readText, readTexts, readWhole, requireText } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { renderProxies, renderProxy } from '../egress-view.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { importProxies } from '../import-proxies.ts';
import { renderCount } from '../progress-bar.ts';
import { withProxyManager } from '../with-connection.ts';

const AMOUNT = { min: 0, max: 1_000_000_000 };
const SAID = { freeze: 'frozen', reset: 'as new', rm: 'removed' } as const;
type Change = keyof typeof SAID;

export function run(context: CommandContext): Promise<ExitCode> {
  const action = String(context.argv['action']);
  switch (action) {
    case 'add':
      return add(context);
    case 'import':
      return importFile(context);
    case 'ls':
      return list(context);
    case 'show':
      return show(context);
    default:
      return change(context, action as Change);
  }
}

function readDetails({ argv }: CommandContext): Record<string, unknown> {
  const tags = readTexts(argv, 'tag');
  return given({
    weight: readWeight(readText(argv, 'weight')),
    perHour: readWhole(argv, 'per-hour', AMOUNT),
    perMinute: readWhole(argv, 'per-minute', AMOUNT),
    exclusive: argv['exclusive'] === true ? true : undefined,
    machine: readText(argv, 'on'),
    control: readText(argv, 'control'),
    tags: tags.length > 0 ? tags : undefined,
  });
}

function readWeight(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const weight = Number(text);
  if (weight >= 0.001 && weight <= 1_000) return weight;
  throw new Failure('INVALID', '--weight must be a number from 0.001 to 1000');
}

async function add(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const urls = readTexts(argv, 'proxies');
  if (urls.length === 0)
    throw new Failure('INVALID', 'which proxy?', {
      hint: 'trawl proxies add http://user:password@host:port',
    });
  const id = readText(argv, 'id');
  if (id !== undefined && urls.length > 1)
    throw new Failure('INVALID', `--id names one proxy, but there are ${urls.length}`);
  const details = readDetails(context);
  const proxies = urls.map((url) => given({ url, id, ...details }));
  const answer = await withProxyManager(context, 'proxies', (ask) =>
    ask('proxies.add', egressAnswers.added, { proxies }),
  );
  const lines = [
    ...answer.proxies.map((each) => `${each.id}  ${each.known ? 'changed' : 'added'}`),
    ...answer.problems.map(({ index, reason }) => `proxy ${index + 1} refused: ${reason}`),
  ];
  output.result(answer, lines.join('\n'));
  return answer.problems.length === 0 ? EXIT.ok : EXIT.failure;
}

async function importFile(context: CommandContext): Promise<ExitCode> {
  const [path, ...more] = readTexts(context.argv, 'proxies');
  if (path === undefined || more.length > 0)
    throw new Failure('INVALID', 'which file?', { hint: 'trawl proxies import FILE; - is stdin' });
  const details = readDetails(context);
  const answer = await withProxyManager(context, 'proxies', (ask) => importProxies(ask, { path, details }));
  const { added, changed, problems } = answer;
  const lines = [
    ...problems.map(({ line, reason }) => `line ${line}: ${reason}`),
    `${renderCount(added)} added, ${renderCount(changed)} changed, ${renderCount(problems.length)} refused.`,
  ];
  context.output.result(answer, lines.join('\n'));
  return problems.length === 0 ? EXIT.ok : EXIT.failure;
}

async function list(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const filter = given({ state: readText(argv, 'state'), tag: readText(argv, 'tag') });
  const proxies = await withProxyManager(context, 'proxies', async (ask) => {
    const found: ProxyAnswer[] = [];
    for (let after: string | undefined; ;) {
      const page = await ask('proxies.ls', egressAnswers.proxies, { ...filter, ...given({ after }) });
      found.push(...page.proxies);
      after = page.next;
      if (after === undefined) return found;
    }
  });
  output.result({ proxies }, proxies.length === 0 ? 'No proxies.' : renderProxies(proxies, Date.now()));
  return EXIT.ok;
}

async function show(context: CommandContext): Promise<ExitCode> {
  const [id, ...more] = readTexts(context.argv, 'proxies');
  if (id === undefined || more.length > 0)
    throw new Failure('INVALID', 'which proxy?', { hint: 'trawl proxies show ID' });
  const proxy = await withProxyManager(context, 'proxies', (ask) =>
    ask('proxies.show', egressAnswers.proxy, { id }),
  );
  context.output.result(proxy, renderProxy(proxy));
  return EXIT.ok;
}

async function change(context: CommandContext, action: Change): Promise<ExitCode> {
  const ids = readTexts(context.argv, 'proxies');
  if (ids.length === 0) requireText({}, 'proxies', `trawl proxies ${action} ID…`);
  const reason = action === 'freeze' ? readText(context.argv, 'reason') : undefined;
  const answer = await withProxyManager(context, 'proxies', (ask) =>
    ask(`proxies.${action}`, egressAnswers.changed, given({ ids, reason })),
  );
  const lines = [
    ...answer.changed.map((id) => `${id}  ${SAID[action]}`),
    ...answer.unknown.map((id) => `${id}  there is no such proxy`),
  ];
  context.output.result(answer, lines.join('\n'));
  return answer.unknown.length === 0 ? EXIT.ok : EXIT.failure;
}
