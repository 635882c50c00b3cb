/**
 * config/prometheus/get-prometheus.sh as a child process, on a PATH that holds only what a case puts there. What it shares
 * with nats/get-nats-server.sh is tested with that.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { projectRoot } from '../../src/project-root.ts';

const script = join(projectRoot, 'config/prometheus/get-prometheus.sh');
const basics = 'awk cat chmod cp find grep gzip mkdir mktemp mv od rm sed sh sort tar uname'.split(' ');
const folders = (process.env['PATH'] ?? '').split(delimiter);

function program(file: string, body: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, body);
  chmodSync(file, 0o755);
  return file;
}

/** As the real ones answer, some of them on several lines. */
const stub = (file: string, name: string, version: string): string =>
  program(
    file,
    `#!/bin/sh\necho '${name}, version ${version} (branch: x, revision: y)'\necho '  go version: go1'\n`,
  );

function machine(t: Test): { root: string; bin: string; cache: string } {
  const root = join(t.testdir({}), 'a machine');
  const bin = join(root, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of basics) {
    const file = folders.map((folder) => join(folder, name)).find((each) => existsSync(each));
    if (file !== undefined) symlinkSync(file, join(bin, name));
  }
  return { root, bin, cache: join(root, 'cache') };
}

function run(
  env: Record<string, string>,
  ...words: string[]
): { code: number | null; stdout: string; stderr: string } {
  const shell = folders.map((folder) => join(folder, 'sh')).find((file) => existsSync(file)) ?? '/bin/sh';
  const { status, stdout, stderr } = spawnSync(shell, [script, ...words], {
    env,
    encoding: 'utf8',
    cwd: '/',
  });
  return { code: status, stdout, stderr };
}

t.test('the one on PATH, or the cached one where that is too old', async (t) => {
  const { bin, cache } = machine(t);
  const env = { PATH: bin, TOOL_CACHE: cache };
  stub(join(bin, 'prometheus'), 'prometheus', '2.15.2');
  const kept = stub(join(cache, 'prometheus'), 'prometheus', '3.5.3+ds1');
  t.match(run(env), { code: 0, stdout: `${kept}\n`, stderr: /2\.15\.2, older than 2\.42\.0/ });
  const found = stub(join(bin, 'promtool'), 'promtool', '2.53.0');
  t.strictSame(run(env, 'promtool').stdout, `${found}\n`);
});

t.test('PROMETHEUS is taken or refused, and is not the promtool', async (t) => {
  const { root, bin, cache } = machine(t);
  const env = { PATH: bin, TOOL_CACHE: cache };
  const own = stub(join(root, 'own'), 'prometheus', '3.0.0');
  t.strictSame(run({ ...env, PROMETHEUS: own }).stdout, `${own}\n`);
  t.match(run({ ...env, PROMETHEUS: '/nonexistent' }), {
    code: 1,
    stderr: /PROMETHEUS=\/nonexistent is refused/,
  });
  t.match(run({ ...env, PROMTOOL: own }, 'promtool'), {
    code: 1,
    stderr: /does not answer --version as a promtool/,
  });
});

t.test('both come together from a bottle of Homebrew', async (t) => {
  const { root, bin, cache } = machine(t);
  stub(join(root, 'prometheus/3.5.0/bin/prometheus'), 'prometheus', '3.5.0');
  stub(join(root, 'prometheus/3.5.0/bin/promtool'), 'promtool', '3.5.0');
  program(join(bin, 'brew'), '#!/bin/sh\n[ "$1" = fetch ] || echo "$BOTTLE"\n');
  const env = { PATH: bin, TOOL_CACHE: cache, ROUTES: 'cache brew', BOTTLE: join(root, 'bottle.tar.gz') };
  spawnSync('tar', ['-czf', env.BOTTLE, '-C', root, 'prometheus']);
  t.match(run(env, 'promtool'), {
    code: 0,
    stdout: `${join(cache, 'promtool')}\n`,
    stderr: /3\.5\.0 \(brew\)/,
  });
  t.strictSame(readdirSync(cache), ['prometheus', 'promtool']);
  t.match(run({ ...env, ROUTES: 'cache' }), { code: 0, stdout: `${join(cache, 'prometheus')}\n` });
});

t.test('without any: every way with its reason, and what to do', async (t) => {
  const { bin, cache } = machine(t);
  const { code, stdout, stderr } = run({ PATH: bin, TOOL_CACHE: cache });
  t.strictSame({ code, stdout }, { code: 1, stdout: '' });
  for (const route of ['path', 'cache', 'debian', 'brew'])
    t.match(stderr, new RegExp(`^  ${route}: \\S.+`, 'm'));
  t.match(stderr, /^Install prometheus >= 2\.42\.0 by hand from https:.*\n.*set PROMETHEUS=/m);
  t.match(run({ PATH: bin }, 'grafana'), { code: 2, stderr: /one argument, prometheus or promtool/ });
  t.match(run({ PATH: bin, ROUTES: 'docker' }), { code: 2, stderr: /unknown route: docker/ });
});
