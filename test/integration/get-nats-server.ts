/**
 * nats/get-nats-server.sh as a child process. PATH is a folder that holds only what a case puts there, so that no
 * nats-server, apt-get, go or brew of the machine can change an outcome, and nothing but the last case needs a network.
 */
import { execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { projectRoot } from '../../src/project-root.ts';

const script = join(projectRoot, 'nats/get-nats-server.sh');
const basics = 'awk chmod cp find grep gzip mkdir mktemp mv od rm sed sh sort tar uname'.split(' ');
const shells = ['sh', 'dash', 'bash'].filter((name) => locate(name) !== undefined);
const every = 'path cache debian brew go release'.split(' ');

function locate(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

function program(file: string, body: string | Uint8Array): string {
  mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, body);
  fs.chmodSync(file, 0o755);
  return file;
}

const server = (file: string, version: string) =>
  program(file, `#!/bin/sh\n[ "$1" = --version ] && echo 'nats-server: v${version}'\n`);

/** A fresh PATH folder with the basic tools, and an empty cache next to it. The blank in the name is deliberate. */
function machine(t: Test): { root: string; bin: string; cache: string } {
  const root = join(t.testdir({}), 'a machine');
  const bin = join(root, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of basics) {
    const file = locate(name);
    if (file !== undefined) fs.symlinkSync(file, join(bin, name));
  }
  return { root, bin, cache: join(root, 'cache') };
}

type Env = Record<string, string>;
type Result = { readonly code: unknown; readonly stdout: string; readonly stderr: string };

/** Starts the script in a process group of its own; `wire` is its file descriptor 3, on which stand-ins talk to the test. */
function start(t: Test, env: Env, { shell = 'sh', file = script, cwd = '/' } = {}) {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe'];
  const child = spawn(locate(shell) ?? shell, [file], { env, cwd, detached: true, stdio });
  const { pid, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null) throw new Error(`${shell} did not start`);
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGTERM');
  };
  t.teardown(kill);
  const done = Promise.all([once(child, 'close'), text(stdout), text(stderr)]).then(
    ([[code], out, err]): Result => ({ code: code as unknown, stdout: out, stderr: err }),
  );
  return { done, kill, wire: child.stdio[3] as Duplex };
}

const run = (t: Test, env: Env, options = {}) => start(t, env, options).done;

/** Strict on stdout: a shell takes all of it as the path. */
function gives(
  t: Test,
  { code, stdout, stderr }: Result,
  file: string,
  said: string | RegExp = /\d \(/,
): void {
  t.strictSame({ code, stdout }, { code: 0, stdout: `${file}\n` }, `gives ${file}`);
  t.match(stderr, said);
}

function refuses(t: Test, { code, stdout, stderr }: Result, said: string | RegExp, expected = 1): void {
  t.strictSame({ code, stdout }, { code: expected, stdout: '' }, 'prints no path');
  t.match(stderr, said);
}

for (const shell of shells) {
  t.test(`under ${shell}`, async (t) => {
    t.test('takes the one on PATH, and writes nothing', async (t) => {
      const { root, bin, cache } = machine(t);
      const file = server(join(bin, 'nats-server'), '2.14.0');
      gives(t, await run(t, { PATH: bin, TOOL_CACHE: cache }, { shell }), file, '2.14.0 (path)');
      gives(t, await run(t, { PATH: 'bin' }, { shell, cwd: root }), file);
      t.notOk(existsSync(cache));
    });

    t.test('says that the one on PATH is too old, and takes the cached one', async (t) => {
      const { bin, cache } = machine(t);
      const old = server(join(bin, 'nats-server'), '2.9.10');
      const kept = server(join(cache, 'nats-server'), '2.15.0-RC.1');
      const result = await run(t, { PATH: bin, TOOL_CACHE: cache }, { shell });
      gives(t, result, kept, `${old} is 2.9.10, older than 2.14.0`);
    });

    t.test('explains a file that does not run here, and never interprets it', async (t) => {
      const { root, bin } = machine(t);
      const env = { PATH: bin, ROUTES: 'path', TRAP: join(root, 'trap') };
      const elfForNoMachine = Buffer.from(`\x7fELF\x02\x01\x01${'\0'.repeat(11)}\xfe\xca`, 'latin1');
      const garbage = Buffer.from(': >"$TRAP"\n\xff\xfe', 'latin1');
      for (const bytes of [elfForNoMachine, garbage, '']) {
        const file = program(join(bin, 'nats-server'), bytes);
        refuses(
          t,
          await run(t, env, { shell }),
          `${file} does not run here: not a program, or one for another`,
        );
      }
      t.notOk(existsSync(env.TRAP), 'garbage is not run as a script');
      program(join(bin, 'nats-server'), '#!/bin/sh\nexit 3\n');
      refuses(t, await run(t, env, { shell }), 'does not run here: --version ends with code 3');
      program(join(bin, 'nats-server'), '#!/bin/sh\necho hello\n');
      refuses(t, await run(t, env, { shell }), 'does not answer --version as a nats-server does');
    });

    t.test('takes or refuses NATS_SERVER, and never looks elsewhere', async (t) => {
      const { root, bin } = machine(t);
      server(join(bin, 'nats-server'), '2.15.1');
      const fit = server(join(root, 'fit'), '2.14.1');
      server(join(root, 'old'), '2.13.99');
      const given = (NATS_SERVER: string) => run(t, { PATH: bin, NATS_SERVER }, { shell, cwd: root });
      gives(t, await given(fit), fit);
      gives(t, await given('fit'), fit);
      refuses(t, await given('old'), /old is 2\.13\.99, older than 2\.14\.0[^]*NATS_SERVER=old is refused/);
      refuses(t, await given('none'), /none does not exist[^]*NATS_SERVER=none is refused/);
      refuses(t, await given('bin'), /bin is not a file that you may read and execute/);
    });

    t.test('lists every route with its reason, and the remedy, when none is left', async (t) => {
      const { bin, cache } = machine(t);
      server(join(bin, 'nats-server'), '2.9.10');
      const result = await run(t, { PATH: bin, TOOL_CACHE: cache }, { shell });
      for (const route of every) refuses(t, result, new RegExp(`^  ${route}: \\S.+`, 'm'));
      refuses(
        t,
        result,
        /^Install nats-server >= 2\.14\.0 by hand from https:.*releases\n.*set NATS_SERVER=/m,
      );
    });
  });
}

t.test('keeps its cache in the project, wherever it is called from', async (t) => {
  const { root, bin } = machine(t);
  const kept = server(join(root, 'project/.cache/tools/nats-server'), '2.14.0');
  const file = program(join(root, 'project/nats/get-nats-server.sh'), fs.readFileSync(script));
  fs.copyFileSync(join(projectRoot, 'nats/find-tool.sh'), join(root, 'project/nats/find-tool.sh'));
  gives(t, await run(t, { PATH: bin }, { file }), kept);
  gives(t, await run(t, { PATH: bin }, { file: 'get-nats-server.sh', cwd: dirname(file) }), kept);
});

t.test('compares versions as numbers, and refuses settings that make no sense', async (t) => {
  const { bin } = machine(t);
  const file = server(join(bin, 'nats-server'), '2.14.10');
  const env = { PATH: bin, ROUTES: 'path' };
  for (const MIN_VERSION of ['2', '2.14.9', '2.14.10']) gives(t, await run(t, { ...env, MIN_VERSION }), file);
  for (const MIN_VERSION of ['3', '2.15', '2.14.11'])
    refuses(t, await run(t, { ...env, MIN_VERSION }), `2.14.10, older than ${MIN_VERSION}`);
  for (const MIN_VERSION of ['v2.14', '2..1', 'new'])
    refuses(t, await run(t, { ...env, MIN_VERSION }), 'is not a version', 2);
  refuses(t, await run(t, { ...env, ROUTES: 'path docker' }), 'unknown route: docker', 2);
});

/** A stand-in for go: builds half a server, says so, waits for word, then finishes. */
const slowGo = `#!/bin/sh
mkdir -p "$GOBIN"; printf '#!/bin/' >"$GOBIN/nats-server"
echo half >&3; read -r _ <&3
printf "sh\\necho 'nats-server: v2.14.5'\\n" >>"$GOBIN/nats-server"; chmod 755 "$GOBIN/nats-server"
`;

t.test('two runs at once both end well', async (t) => {
  const { bin, cache } = machine(t);
  const kept = join(cache, 'nats-server');
  program(join(bin, 'go'), slowGo);
  const runs = [0, 1].map(() => start(t, { PATH: bin, TOOL_CACHE: cache, ROUTES: 'cache go' }));
  await Promise.all(runs.map(({ wire }) => once(wire, 'data')));
  t.notOk(existsSync(kept), 'half a server is not in its place');
  for (const { wire } of runs) wire.write('go on\n');
  for (const { done } of runs) gives(t, await done, kept, '2.14.5 (go)');
  t.equal(execFileSync(kept).toString(), 'nats-server: v2.14.5\n');
  t.strictSame(readdirSync(cache), ['nats-server']);
});

t.test('an interrupted run leaves nothing, and clears what a killed one left', async (t) => {
  const { bin, cache } = machine(t);
  program(join(bin, 'go'), slowGo);
  const left = program(join(cache, '.fetch.killed/nats-server'), 'half');
  fs.utimesSync(dirname(left), new Date(0), new Date(0));
  const { done, kill, wire } = start(t, { PATH: bin, TOOL_CACHE: cache, ROUTES: 'go' });
  await once(wire, 'data');
  kill();
  refuses(t, await done, 'building', 143);
  t.strictSame(readdirSync(cache), []);
});

t.test('says what went wrong in a route, and goes on with the next', async (t) => {
  const { root, bin, cache } = machine(t);
  program(join(bin, 'go'), '#!/bin/sh\necho "module not found" >&2\nexit 1\n');
  program(join(bin, 'brew'), '#!/bin/sh\n[ "$1" = fetch ] || echo "$BOTTLE"\n');
  server(join(root, 'nats-server/2.14.9/bin/nats-server'), '2.14.9');
  const env = { PATH: bin, TOOL_CACHE: cache, ROUTES: 'go brew', BOTTLE: join(root, 'bottle.tar.gz') };
  execFileSync('tar', ['-czf', env.BOTTLE, '-C', root, 'nats-server']);
  gives(t, await run(t, env), join(cache, 'nats-server'), /module not found[^]*2\.14\.9 \(brew\)/);
  refuses(
    t,
    await run(t, { ...env, TOOL_CACHE: '/dev/null/x' }),
    'cannot write to /dev/null/x: set TOOL_CACHE',
  );
});

t.test('takes the release only with the pinned checksum', async (t) => {
  const { root, bin, cache } = machine(t);
  const [, sum = ''] = /linux-amd64 sum=(\w{64})/.exec(fs.readFileSync(script, 'utf8')) ?? [];
  const name = 'nats-server-v2.14.5-linux-amd64';
  server(join(root, name, 'nats-server'), '2.14.5');
  program(join(bin, 'uname'), '#!/bin/sh\necho Linux x86_64\n');
  program(join(bin, 'curl'), `#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "$TARBALL" "$2"\n`);
  program(join(bin, 'sha256sum'), '#!/bin/sh\necho "$SUM  $1"\n');
  const env = { PATH: bin, TOOL_CACHE: cache, ROUTES: 'release', TARBALL: join(root, 'release.tar.gz') };
  execFileSync('tar', ['-czf', env.TARBALL, '-C', root, name]);
  refuses(t, await run(t, { ...env, SUM: 'f00d' }), 'not the pinned one: not used');
  t.strictSame(readdirSync(cache), []);
  refuses(t, await run(t, { ...env, MIN_VERSION: '2.15' }), 'release: it would give 2.14.5, older than 2.15');
  gives(t, await run(t, { ...env, SUM: sum }), join(cache, 'nats-server'));
});

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
const skip = locate('apt-get') === undefined || !existsSync(keyring) ? 'this is no Debian' : false;
t.test('fetches a real server through the apt sources of this machine', { skip }, async (t) => {
  const { cache } = machine(t);
  const kept = join(cache, 'nats-server');
  const env = { ...process.env, NATS_SERVER: '', TOOL_CACHE: cache, ROUTES: 'debian' } as Env;
  const result = await run(t, env);
  // Without a network nothing is learnt about the script; any other failure is its own.
  if (result.code !== 0 && /Could not (resolve|connect)|Temporary failure|timed out/.test(result.stderr)) {
    t.plan(0, 'no mirror in reach');
    return;
  }
  gives(t, result, kept, '(debian)');
  t.match(execFileSync(kept, ['--version']).toString(), /^nats-server: v\d/);
  t.strictSame(readdirSync(cache), ['nats-server']);
  gives(t, await run(t, { ...env, ROUTES: 'cache' }), kept);
});
