import t from 'tap';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { settings } from '../../src/config/catalogue.ts';
import type { LoadOptions } from '../../src/config/gather.ts';
import { describeConfig, loadConfig } from '../../src/config/load.ts';
import { Failure } from '../../src/domain/failure.ts';

const CANARY = 'hunter2canary';

const cwd = mkdtempSync(join(tmpdir(), 'trawl-config-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
mkdirSync(join(cwd, 'config'));

function load(options: Partial<LoadOptions>) {
  return loadConfig({ flags: {}, env: {}, cwd, ...options });
}

function failureOf(options: Partial<LoadOptions>): Failure {
  try {
    load(options);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

/** All that anyone could print of an error. */
function everythingIn(failure: Failure): string {
  return `${inspect(failure, { depth: null })}${failure.hint ?? ''}${JSON.stringify(failure)}`;
}

t.test('a secret comes from its variable, another variable, or a file', async (t) => {
  writeFileSync(join(cwd, 'token'), `${CANARY}\r\n`);
  const ways: readonly Partial<LoadOptions>[] = [
    { env: { TRAWL_NATS_TOKEN: CANARY } },
    { env: { TRAWL_NATS_TOKEN: 'env:OTHER', OTHER: CANARY } },
    { env: { TRAWL_NATS_TOKEN: 'file:token' } },
    { env: { OTHER: CANARY }, flags: { 'nats.token': 'env:OTHER' } },
    { flags: { 'nats.token': 'file:token' } },
    { flags: { 'nats.token': `file:${join(cwd, 'token')}` } },
    { localDefaults: { 'nats.token': CANARY } },
    { localDefaults: { 'nats.token': 'file:token' } },
  ];
  for (const options of ways) {
    const loaded = load(options);
    t.equal(loaded.config.nats.token?.reveal(), CANARY);
    t.notMatch(inspect(loaded, { depth: null }), CANARY);
    t.notMatch(JSON.stringify([loaded.config, [...loaded.sources], describeConfig(loaded)]), CANARY);
  }
});

t.test('a secret from the file, by reference', async (t) => {
  writeFileSync(join(cwd, 'config/trawl.yaml'), 'nats:\n  token: env:OTHER\n');
  t.teardown(() => rmSync(join(cwd, 'config/trawl.yaml')));
  t.equal(load({ env: { OTHER: CANARY } }).config.nats.token?.reveal(), CANARY);
});

t.test('a secret keeps its spaces, at the ends too', async (t) => {
  t.equal(load({ env: { TRAWL_NATS_TOKEN: ' a b ' } }).config.nats.token?.reveal(), ' a b ');
  writeFileSync(join(cwd, 'spaces'), ' a b \n');
  t.equal(load({ flags: { 'nats.token': 'file:spaces' } }).config.nats.token?.reveal(), ' a b ');
});

t.test('references that lead nowhere', async (t) => {
  writeFileSync(join(cwd, 'nothing'), '\n');
  writeFileSync(join(cwd, 'huge'), CANARY.repeat(10_000));
  const cases: readonly (readonly [string, string])[] = [
    ['env:UNSET', 'refers to the environment variable UNSET, which is not set'],
    ['env:EMPTY', 'refers to the environment variable EMPTY, which is not set'],
    ['file:none', 'refers to the file none, which cannot be read (ENOENT)'],
    ['file:config', 'refers to the file config, which cannot be read (EISDIR)'],
    ['file:nothing', 'refers to the file nothing, which is empty'],
    ['file:huge', 'refers to the file huge, which is too large for a secret (over 65536 bytes)'],
  ];
  for (const [raw, problem] of cases) {
    const failure = failureOf({ flags: { 'nats.token': raw }, env: { EMPTY: '' } });
    t.equal(failure.message.split('\n')[1], `  --nats-token: nats.token ${problem}`);
    t.notMatch(everythingIn(failure), CANARY);
  }
});

t.test('a secret written into a flag is refused and not repeated', async (t) => {
  const secrets = settings.filter((setting) => setting.field.parser.secret);
  t.same(
    secrets.map((setting) => setting.path),
    ['nats.password', 'nats.token', 'nats.nkey', 'egress.key'],
  );
  for (const { path, flag, env } of secrets) {
    for (const raw of [CANARY, `env:${CANARY} x`, `ENV:${CANARY}`, [CANARY], [CANARY, CANARY]]) {
      const failure = failureOf({ flags: { 'nats.user': 'u', [path]: raw } });
      t.match(failure.message, `--${flag}: ${path}`);
      t.notMatch(everythingIn(failure), CANARY);
    }
    const failure = failureOf({ flags: { [path]: CANARY } });
    t.match(failure.message, `write env:NAME or file:/path, or set ${env[0] ?? ''}`);
  }
});

t.test('no broken file shows a secret that stands in it', async (t) => {
  const texts = [
    `nats:\n  password: ${CANARY}`,
    `nats:\n  password: "${CANARY}"`,
    `nats:\n  password: |\n    ${CANARY}`,
    `nats:\n  password: [${CANARY}]`,
    `nats:\n  password: { ${CANARY}: x }`,
    `nats:\n  password ${CANARY}`,
    `nats:\n  password ${CANARY}\n  user: x`,
    `nats:\n  password:${CANARY}`,
    `nats:\n  password:${CANARY}\n  user: x`,
    `nats: { password:${CANARY} }`,
    `nats: { password ${CANARY} }`,
    `nats:\n  password: *${CANARY}`,
    `nats:\n  password: !${CANARY} x`,
    `nats:\n  password: !!${CANARY} x`,
    `nats:\n  password: @${CANARY}`,
    `nats:\n  password: "${CANARY}`,
    `nats:\n  password: "${CANARY}\\q"`,
    `nats:\n  password: '${CANARY}' ${CANARY}`,
    `nats:\n  password: "a" ${CANARY}`,
    `nats:\n  password: %${CANARY}`,
    `nats:\n  password: a: ${CANARY}`,
    `nats:\n\tpassword: ${CANARY}`,
    `nats:\n  password: env:A\n  password: ${CANARY}`,
    `nats:\n  passwort: ${CANARY}`,
    `password: ${CANARY}`,
    `nats: ${CANARY}`,
    `%${CANARY}\n---\nhome: x\n`,
    CANARY,
    `- ${CANARY}`,
    `nats:\n  url: nats://user:${CANARY}@host`,
    `nats:\n  url: [nats://a, "nats://${CANARY}@host"]`,
    `nats:\n  creds: "-----BEGIN\\n${CANARY}\\n"`,
    `nats:\n  tlsCert: a\n  tlsKey: |\n    -----BEGIN PRIVATE KEY-----\n    ${CANARY}\n`,
    `http:\n  host: http://user:${CANARY}@host`,
  ];
  t.teardown(() => rmSync(join(cwd, 'config/trawl.yaml'), { force: true }));
  for (const yaml of texts) {
    writeFileSync(join(cwd, 'config/trawl.yaml'), yaml);
    const failure = failureOf({ env: { A: 'x' } });
    t.equal(failure.code, 'INVALID');
    t.match(failure.message, /config\/trawl\.yaml:\d+:\d+: /);
    t.notMatch(everythingIn(failure), CANARY, JSON.stringify(yaml));
  }
});

t.test('a server address with a user in it is refused, with the way out, and not repeated', async (t) => {
  for (const url of [
    `nats://user:${CANARY}@host:4222`,
    `nats://${CANARY}@host`,
    `nats://user:${CANARY},x@host`,
    `user:${CANARY}@host`,
    `nats://a:4222,nats://user:${CANARY}@b`,
  ]) {
    for (const options of [
      { env: { NATS_URL: url } },
      { env: { TRAWL_NATS_URL: url } },
      { flags: { 'nats.url': url } },
      { flags: { 'nats.url': ['nats://a', url] } },
      { localDefaults: { 'nats.url': url } },
    ]) {
      const failure = failureOf(options);
      t.match(failure.message, 'use nats.user and nats.password, or nats.token');
      t.notMatch(everythingIn(failure), CANARY);
    }
  }
});

t.test('a right secret does not show in the report of other problems', async (t) => {
  const failure = failureOf({
    env: {
      TRAWL_NATS_PASSWORD: CANARY,
      TRAWL_NATS_TOKEN: CANARY,
      TRAWL_HTTP_PORT: 'x',
      TRAWL_NATS_PASSWD: CANARY,
    },
  });
  t.equal(failure.message.split('\n').length, 1 + 4);
  t.notMatch(everythingIn(failure), CANARY);
});
