/** `trawl sessions`: who we are at which host. */
import { egressAnswers, type SessionAnswer } from '../../client/egress-answers.ts';
import { Failure } from '../../domain/failure.ts';
import { given, readText, readTexts } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import { renderSession, renderSessions } from '../egress-view.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderCount } from '../progress-bar.ts';
import { readLines } from '../read-lines.ts';
import { withProxyManager } from '../with-connection.ts';

/** Cookies may be large, and a message holds a megabyte. */
const PIECE = 50;

export function run(context: CommandContext): Promise<ExitCode> {
  switch (String(context.argv['action'])) {
    case 'ls':
      return list(context);
    case 'show':
      return show(context);
    case 'rm':
      return remove(context);
    default:
      return importFile(context);
  }
}

async function list(context: CommandContext): Promise<ExitCode> {
  const { argv, output } = context;
  const filter = given({ state: readText(argv, 'state'), host: readText(argv, 'host') });
  const sessions = await withProxyManager(context, 'sessions', async (ask) => {
    const found: SessionAnswer[] = [];
    for (let after: string | undefined; ;) {
      const page = await ask('sessions.ls', egressAnswers.sessions, { ...filter, ...given({ after }) });
      found.push(...page.sessions);
      after = page.next;
      if (after === undefined) return found;
    }
  });
  output.result({ sessions }, sessions.length === 0 ? 'No sessions.' : renderSessions(sessions, Date.now()));
  return EXIT.ok;
}

async function show(context: CommandContext): Promise<ExitCode> {
  const [id, ...more] = readTexts(context.argv, 'sessions');
  if (id === undefined || more.length > 0)
    throw new Failure('INVALID', 'which session?', { hint: 'trawl sessions show ID' });
  const session = await withProxyManager(context, 'sessions', (ask) =>
    ask('sessions.show', egressAnswers.session, { id }),
  );
  context.output.result(session, renderSession(session));
  return EXIT.ok;
}

async function remove(context: CommandContext): Promise<ExitCode> {
  const ids = readTexts(context.argv, 'sessions');
  if (ids.length === 0) throw new Failure('INVALID', 'which sessions?', { hint: 'trawl sessions rm ID…' });
  const answer = await withProxyManager(context, 'sessions', (ask) =>
    ask('sessions.rm', egressAnswers.changed, { ids }),
  );
  const lines = [
    ...answer.changed.map((id) => `${id}  retired`),
    ...answer.unknown.map((id) => `${id}  there is no such session`),
  ];
  context.output.result(answer, lines.join('\n'));
  return answer.unknown.length === 0 ? EXIT.ok : EXIT.failure;
}

async function importFile(context: CommandContext): Promise<ExitCode> {
  const [path, ...more] = readTexts(context.argv, 'sessions');
  if (path === undefined || more.length > 0)
    throw new Failure('INVALID', 'which file?', { hint: 'trawl sessions import FILE; - is stdin' });
  const sessions = await readSessions(path);
  if (sessions.length === 0) throw new Failure('INVALID', `${path} holds no session`);
  const ids = await withProxyManager(context, 'sessions', async (ask) => {
    const stored: string[] = [];
    for (let at = 0; at < sessions.length; at += PIECE) {
      const body = { sessions: sessions.slice(at, at + PIECE) };
      stored.push(...(await ask('sessions.import', egressAnswers.imported, body)).sessions);
    }
    return stored;
  });
  context.output.result({ sessions: ids }, `${renderCount(ids.length)} sessions are imported.`);
  return EXIT.ok;
}

/** A JSON list, or one JSON object per line. No message repeats the text: it holds cookies. */
async function readSessions(path: string): Promise<unknown[]> {
  const lines: { number: number; text: string }[] = [];
  for await (const line of readLines(path)) if (line.text !== '') lines.push(line);
  const whole = parse(lines.map(({ text }) => text).join('\n'));
  if (Array.isArray(whole)) return whole as unknown[];
  return lines.map(({ number, text }) => {
    const session = parse(text);
    if (typeof session === 'object' && session !== null) return session;
    throw new Failure('INVALID', `line ${number} of ${path} is not a JSON object`, {
      hint: 'Give a JSON list, or one object per line: {"host", "scraper", "egress", "userAgent", "cookies"}.',
    });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
