/** The control port of Tor, played by a small server. */
import t from 'tap';
import { inspect } from 'node:util';
import { Failure } from '../../src/domain/failure.ts';
import { Secret } from '../../src/domain/secret.ts';
import { renewTorCircuit } from '../../src/http/tor-control.ts';
import { startRaw } from '../kit/http-world.ts';

const PASSWORD = 'canary "quoted" \\ back';

async function startTor(
  t: Parameters<typeof startRaw>[0],
  answers: Record<string, string>,
): Promise<{ port: number; heard: string[] }> {
  const heard: string[] = [];
  const port = await startRaw(t, (socket) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      for (let end = text.indexOf('\r\n'); end !== -1; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        heard.push(line);
        const answer = answers[line.split(' ')[0] ?? ''];
        if (answer !== undefined) socket.write(answer);
      }
    });
  });
  return { port, heard };
}

async function failing(port: number, password?: Secret): Promise<Failure> {
  const error: unknown = await renewTorCircuit(
    { host: '127.0.0.1', port, password },
    { timeoutMs: 300 },
  ).then(
    () => new Error('it worked'),
    (reason: unknown) => reason,
  );
  if (error instanceof Failure) return error;
  throw error;
}

t.test('a new circuit', async (t) => {
  const { port, heard } = await startTor(t, { AUTHENTICATE: '250 OK\r\n', SIGNAL: '250-note\r\n250 OK\r\n' });
  await renewTorCircuit({ host: '127.0.0.1', port, password: new Secret(PASSWORD) }, { timeoutMs: 3000 });
  t.same(heard.slice(0, 2), ['AUTHENTICATE "canary \\"quoted\\" \\\\ back"', 'SIGNAL NEWNYM']);
  await renewTorCircuit({ host: '127.0.0.1', port }, { timeoutMs: 3000 });
  t.ok(heard.includes('AUTHENTICATE ""'), 'without a password');
});

t.test('what goes wrong is told without the password', async (t) => {
  const password = new Secret(PASSWORD);
  const table: Record<string, Record<string, string>> = {
    'wrong password': { AUTHENTICATE: '515 Bad authentication\r\n' },
    'no signal': { AUTHENTICATE: '250 OK\r\n', SIGNAL: '552 Unrecognized signal\r\n' },
    'no answer': {},
    'endless line': { AUTHENTICATE: 'x'.repeat(10_000) },
    'endless lines': { AUTHENTICATE: '250-more\r\n'.repeat(100) },
  };
  for (const [name, answers] of Object.entries(table)) {
    const { port } = await startTor(t, answers);
    const failure = await failing(port, password);
    t.equal(failure.code, 'PROXY', name);
    t.notMatch(inspect(failure, { depth: 10, showHidden: true }), /canary/, name);
  }
  t.match(await failing(1, password), { code: 'PROXY', hint: /ControlPort/ });
  t.match(await failing(1, new Secret('a\r\nSIGNAL SHUTDOWN')), { code: 'INVALID' });
});
