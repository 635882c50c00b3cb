import t from 'tap';
import yargs from 'yargs';
import { settings } from '../../src/config/catalogue.ts';
import { flagOptions, flagsFromArgv } from '../../src/config/flags.ts';
import { loadConfig } from '../../src/config/load.ts';

function parse(words: readonly string[]) {
  return flagsFromArgv(
    yargs([...words])
      .options(flagOptions())
      .strict()
      .exitProcess(false)
      .parseSync(),
  );
}

t.test('every setting is a flag, and --config beside them', async (t) => {
  const options = flagOptions();
  t.same(Object.keys(options).sort(), ['config', ...settings.map((setting) => setting.flag)].sort());
  t.same(options['nats-url'], {
    type: 'string',
    alias: 'nats',
    describe: 'The servers of NATS',
    group: 'Settings of nats:',
    defaultDescription: 'nats://127.0.0.1:4222',
  });
  t.same(options['id']?.group, 'Settings of actor:');
  t.notOk('defaultDescription' in (options['id'] ?? {}), 'what may stay unset has no default to show');
  t.equal(options['home']?.group, 'Settings:');
});

t.test('a command may take the flags of some sections only', async (t) => {
  t.same(Object.keys(flagOptions(['log'])), ['config', 'log-level', 'log-format']);
  t.same(Object.keys(flagOptions(['general'])), ['config', 'home', 'namespace', 'durability', 'registry']);
  t.same(Object.keys(flagOptions([])), ['config']);
});

t.test('an alias is the same flag', async (t) => {
  t.same(parse(['--nats', 'nats://a:1']).flags, { 'nats.url': 'nats://a:1' });
  t.same(parse(['--nats', 'nats://a:1', '--nats-url=nats://b:1']).flags, {
    'nats.url': ['nats://a:1', 'nats://b:1'],
  });
});

t.test('flags come back as they were written, keyed by path', async (t) => {
  t.same(parse([]), { flags: {}, file: undefined });
  t.same(parse(['--id', '007', '--nats-tls-ca=a b', '--http-port', '080', '--config', 'x.yaml']), {
    flags: { 'actor.id': '007', 'nats.tlsCa': 'a b', 'http.port': '080' },
    file: 'x.yaml',
  });
  t.same(parse(['--nats-url', 'a', '--nats-url', 'b']).flags, { 'nats.url': ['a', 'b'] });
});

t.test('a flag without a value is empty, and so refused later', async (t) => {
  t.same(parse(['--nats-url']).flags, { 'nats.url': '' });
  t.same(parse(['--no-nats-url']).flags, { 'nats.url': '' });
  t.throws(() => loadConfig({ ...parse(['--nats-url']), env: {}, cwd: import.meta.dirname }), {
    code: 'INVALID',
  });
});

t.test('--config names one file', async (t) => {
  for (const words of [['--config'], ['--config', ''], ['--config', 'a', '--config', 'b'], ['--no-config']])
    t.throws(() => parse(words), { code: 'INVALID', message: '--config takes one file' });
});

t.test('what yargs parsed can be loaded as it is', async (t) => {
  const { config } = loadConfig({
    ...parse(['--leader-ttl', '90s', '--nodes', '3']),
    env: {},
    cwd: import.meta.dirname,
  });
  t.equal(config.leader.ttl, 90_000);
  t.equal(config.local.nodes, 3);
});
