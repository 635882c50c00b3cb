/** The program's manners: exit codes, words instead of stack traces, JSON when asked, quiet in a pipe. */
import t from 'tap';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { startNatsServer } from '../kit/nats-server.ts';
import { startOldServer } from '../kit/old-server.ts';
import { installTrawl, type Finished } from '../kit/trawl.ts';

const NO_STACK = /\n\s+at .*\(|node:internal/;

t.test('mistakes are told in words, with a way out and an exit code', async (t) => {
  const trawl = await installTrawl(t);
  const cases: [name: string, words: string[], expected: Partial<Record<keyof Finished, unknown>>][] = [
    ['no command', [], { code: 2, stderr: /Say what to do/ }],
    ['unknown command', ['statsu'], { code: 2, stderr: /Did you mean/ }],
    ['unknown flag', ['status', '--xyz', 'x'], { code: 2, stderr: /xyz\n`trawl --help` shows how/ }],
    [
      'a slip of the pen',
      ['submit', 'echo', '--prioritty', '3'],
      { code: 2, stderr: /Did you mean --priority\? `trawl --help`/ },
    ],
    ['bad value', ['worker', '--leader-ttl', 'soon'], { code: 2, stderr: /--leader-ttl.*duration/s }],
    [
      'several bad values',
      ['worker', '--leader-ttl', 'soon', '--http-port', 'x'],
      { code: 2, stderr: /leader-ttl[\s\S]*http-port/ },
    ],
    [
      'a secret on the command line',
      ['status', '--nats-user', 'u', '--nats-password', 'canary'],
      { code: 2, stderr: /env:|file:/ },
    ],
    [
      'no server',
      ['status', '--nats-url', 'nats://127.0.0.1:1'],
      { code: 3, stderr: /no NATS server answers[\s\S]*trawl up/ },
    ],
    [
      'no server, by the short flag, of a command that hides it',
      ['config', '--nats', 'redis://127.0.0.1:1'],
      { code: 2, stderr: /nats-url.*nats/ },
    ],
    [
      'a setting before the command',
      ['--nats-url', 'nats://127.0.0.1:1', 'status'],
      { code: 3, stderr: /:1/ },
    ],
    [
      'no server, by the short flag',
      ['status', '--nats', 'nats://127.0.0.1:1'],
      { code: 3, stderr: /127\.0\.0\.1:1/ },
    ],
    [
      'no server for doctor',
      ['doctor', '--nats-url', 'nats://127.0.0.1:1'],
      { code: 1, stdout: /FAIL {2}nats-server/ },
    ],
    ['bad action', ['topology', 'destroy'], { code: 2, stderr: /diff.*apply/ }],
    ['missing file', ['status', '--config', 'nowhere.yaml'], { code: 2, stderr: /nowhere\.yaml/ }],
  ];
  for (const [name, words, expected] of cases) {
    const finished = await trawl.run(...words);
    t.match(finished, expected, name);
    t.notMatch(finished.stderr, NO_STACK, `${name}: no stack trace`);
    t.notMatch(finished.stderr + finished.stdout, /canary/, `${name}: no secret`);
  }
});

t.test('what a scraper has left open does not keep the program', { timeout: 30_000 }, async (t) => {
  const trawl = await installTrawl(t);
  const file = join(trawl.home, '../open.mjs');
  const many = 'x'.repeat(200_000);
  writeFileSync(
    file,
    `setInterval(() => {}, 1000);
export default { name: 'open', run: ({ emit }) => emit({ many: '${many}' }) };`,
  );
  const { code, stdout } = await trawl.run('try', file, '--url', 'http://127.0.0.1:1/', '--json');
  t.equal(code, 0);
  t.ok(JSON.stringify(JSON.parse(stdout)).includes(many), 'and all of what it says is said');
});

t.test('--json answers with JSON, also when it fails', async (t) => {
  const trawl = await installTrawl(t);
  const failed = await trawl.run('status', '--nats-url', 'nats://127.0.0.1:1', '--json');
  t.equal(failed.code, 3);
  t.match(JSON.parse(failed.stdout), {
    error: { code: 'UNAVAILABLE', message: /no NATS server/, hint: /trawl up/ },
  });
  const misused = await trawl.run('status', '--nonsense', '--json');
  t.match(JSON.parse(misused.stdout), { error: { code: 'INVALID' } });
  t.equal(misused.code, 2);
  const config = JSON.parse((await trawl.run('config', '--json')).stdout) as { path: string }[];
  t.ok(config.some(({ path }) => path === 'nats.url'));
});

t.test('every command has help with an example', async (t) => {
  const trawl = await installTrawl(t);
  const { stdout } = await trawl.run('--help');
  const commands = [...stdout.matchAll(/^ {2}trawl ([a-z-]+)/gm)].map((match) => match[1] ?? '');
  t.ok(commands.length >= 12, commands.join(' '));
  for (const command of commands) {
    const help = await trawl.run(command, '--help');
    t.match(help, { code: 0, stdout: /Examples:\n +trawl / }, command);
  }
  t.notMatch(stdout, /supervise/, 'what is for machines is not shown');
  const status = await trawl.run('status', '--help');
  t.match(status.stdout, /--nats-url, --nats /, 'settings that matter to the command are shown');
  t.notMatch(status.stdout, /--autoscale-/, 'and no others, though they work');
  t.match(
    await trawl.run('proxies', '--help'),
    { stdout: /--id / },
    'an option with the name of a setting is shown',
  );
});

t.test('the configuration file of the working folder counts, and its mistakes have lines', async (t) => {
  const trawl = await installTrawl(t);
  const file = join(trawl.home, '..', 'settings.yaml');
  writeFileSync(file, 'leader:\n  tll: 5s\nheartbeat:\n  interval: never\n');
  const { code, stderr } = await trawl.run('config', '--config', file);
  t.equal(code, 2);
  t.match(stderr, /settings\.yaml:2.*leader\.tll.*did you mean leader\.ttl/s);
  t.match(stderr, /settings\.yaml:4.*heartbeat\.interval/s);
});

t.test('a busy port is explained, and nothing is left behind', async (t) => {
  const trawl = await installTrawl(t);
  const squatter = createServer().listen(trawl.portBase, '127.0.0.1');
  await once(squatter, 'listening');
  t.teardown(() => squatter.close());
  const { code, stderr } = await trawl.run('up');
  t.equal(code, 1);
  t.match(stderr, new RegExp(`port ${trawl.portBase}[\\s\\S]*port-base`));
});

t.test('a foreign nats-server on the port is recognised', async (t) => {
  const foreign = await startNatsServer(t);
  const trawl = await installTrawl(t, { TRAWL_LOCAL_PORT_BASE: String(foreign.port) });
  const { code, stderr } = await trawl.run('up');
  t.equal(code, 1);
  t.match(stderr, /nats-server.*test-/);
});

t.test('a server that is too old is refused', async (t) => {
  const { url } = await startOldServer(t);
  const trawl = await installTrawl(t);
  const { code, stderr } = await trawl.run('status', '--nats-url', url);
  t.equal(code, 1);
  t.match(stderr, /nats-server 2\.9\.10 is too old: Trawl needs 2\.14\.0 or newer/);
  const doctor = await trawl.run('doctor', '--nats-url', url);
  t.equal(doctor.code, 1);
  t.match(doctor.stdout, /FAIL {2}nats-server +nats-server 2\.9\.10 is too old.*\n +→ Upgrade the server/);
});

t.test('doctor tells what is wrong with the credentials', async (t) => {
  const server = await startNatsServer(t, { config: 'authorization { user: trawl, password: right }' });
  const trawl = await installTrawl(t);
  const { code, stdout } = await trawl.run('doctor', '--nats-url', server.url);
  t.equal(code, 1);
  t.match(stdout, /FAIL {2}nats-server .*refused the credentials\n +→ Set nats\.user and nats\.password/);
});

t.test('doctor does not want the ports of a server of ours that is in use', async (t) => {
  const server = await startNatsServer(t);
  const trawl = await installTrawl(t, {
    TRAWL_LOCAL_PORT_BASE: String(server.port),
    TRAWL_NATS_URL: server.url,
  });
  t.equal((await trawl.run('topology', 'apply')).code, 0);
  const { code, stdout } = await trawl.run('doctor');
  t.match(stdout, new RegExp(`warn {2}port +${server.port} \\(NATS\\) is taken`));
  t.equal(code, 0, stdout);
});
