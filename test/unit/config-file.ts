import t from 'tap';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSettings } from '../../src/config/parse-settings.ts';
import { loadConfig } from '../../src/config/load.ts';
import { Failure } from '../../src/domain/failure.ts';

function problemsOf(yaml: string): readonly string[] {
  return parseSettings(yaml, 'f.yaml').problems;
}

t.test('texts that are fine', async (t) => {
  const fine: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['', {}],
    ['\n\n', {}],
    ['# only a comment\n', {}],
    ['---\n', {}],
    ['null\n', {}],
    ['{}\n', {}],
    ['nats:\n', {}],
    ['nats:\n  # url: x\nlog:\n', {}],
    ['nats: {}\n', {}],
    ['home: here\n', { home: 'here' }],
    ['\uFEFFhome: here\r\n', { home: 'here' }],
    ['"home": "here"\n', { home: 'here' }],
    ['nats: { url: a, user: b }\n', { 'nats.url': 'a', 'nats.user': 'b' }],
    ['nats:\n  url: [a, "b:1"]\n', { 'nats.url': ['a', 'b:1'] }],
    ['nats:\n  url:\n    - a\n    - b\n', { 'nats.url': ['a', 'b'] }],
    ['nats:\n  user: 0123\n', { 'nats.user': '0123' }],
    ['nats:\n  user: 1.10\n', { 'nats.user': '1.10' }],
    ['nats:\n  user: yes\n', { 'nats.user': 'yes' }],
    ['nats:\n  user: True\n', { 'nats.user': 'True' }],
    ['home: &place here\nnamespace: *place\n', { home: 'here', namespace: 'here' }],
  ];
  for (const [yaml, expected] of fine) {
    const { given, problems } = parseSettings(yaml, 'f.yaml');
    t.same(problems, [], JSON.stringify(yaml));
    t.same(
      Object.fromEntries([...given].map(([path, { raw }]) => [path, raw])),
      expected,
      JSON.stringify(yaml),
    );
  }
});

t.test('texts that are not, with the place', async (t) => {
  const wrong: readonly (readonly [string, readonly string[]])[] = [
    ['hello\n', ['f.yaml:1:1: the file must hold settings, as lines of "key: value"']],
    ['- home: a\n', ['f.yaml:1:1: the file must hold settings, as lines of "key: value"']],
    ['nats: nats://a\n', ['f.yaml:1:7: nats must hold settings, as lines of "key: value"']],
    ['nats:\n  - url: a\n', ['f.yaml:2:3: nats must hold settings, as lines of "key: value"']],
    ['home:\n', ['f.yaml:1:1: home has no value; give it one or remove the line']],
    ['nats:\n  user: ~\n', ['f.yaml:2:3: nats.user has no value; give it one or remove the line']],
    ['home: { a: b }\n', ['f.yaml:1:7: home must be one line of text']],
    [
      'nats:\n  url: [a, [b]]\n',
      [
        'f.yaml:2:8: nats.url must be one or more of nats://host:port or tls://host:port, separated by commas',
      ],
    ],
    ['home: a\nhome: b\n', ['f.yaml:2:1: this key was given before']],
    ['nats:\n  user: a\nnats:\n  user: b\n', ['f.yaml:3:1: this key was given before']],
    ['nats:\n\turl: x\n', ['f.yaml:2:1: a tab; indent with spaces']],
    ['home: "a\n', ['f.yaml:2:1: a quote, bracket, comma or colon is missing']],
    ['home: @a\n', ['f.yaml:1:7: a value starts with a reserved character; put it in quotes']],
    ['home: a: b\n', ['f.yaml:1:7: two keys on one line; put a value that holds ": " in quotes']],
    ['home: a\n---\nhome: b\n', ['f.yaml:2:1: a second document starts here; only one is allowed']],
    ['home: *nowhere\n', ['f.yaml:1:7: home must be one line of text']],
    ['home: !odd a\n', ['f.yaml:1:7: this is not valid YAML']],
    ['natz:\n  url: x\n', ['f.yaml:1:1: natz is not a setting; did you mean nats?']],
    ['general:\n  home: x\n', ['f.yaml:1:1: general is not a setting']],
    ['url: x\n', ['f.yaml:1:1: url is not a setting; did you mean nats.url?']],
    ['log:\n  actorPort: 1\n', ['f.yaml:2:3: log.actorPort is not a setting; did you mean http.actorPort?']],
    ['nats:\n  tls_ca: x\n', ['f.yaml:2:3: nats.tls_ca is not a setting; did you mean nats.tlsCa?']],
    ['natsUrl: x\n', ['f.yaml:1:1: natsUrl is not a setting; did you mean nats.url?']],
    [
      'heartbeat:\n  dead_afer: 1s\n',
      ['f.yaml:2:3: heartbeat.dead_afer is not a setting; did you mean heartbeat.deadAfter?'],
    ],
    ['nats.url: x\n', ['f.yaml:1:1: write "url:" below "nats:"']],
    ['quux: 1\n', ['f.yaml:1:1: quux is not a setting']],
    ['7: 1\n', ['f.yaml:1:1: 7 is not a setting']],
    ['? [a]\n: b\n', ['f.yaml:1:3: this key is not a setting']],
    ['<<: { home: a }\n', ['f.yaml:1:1: this key is not a setting']],
    ['a b: 1\nquux: 2\n', ['f.yaml:1:1: this key is not a setting', 'f.yaml:2:1: quux is not a setting']],
  ];
  for (const [yaml, problems] of wrong) t.same(problemsOf(yaml), problems, JSON.stringify(yaml));
});

t.test('reading the file itself', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-config-'));
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, 'config'));

  function load(options: { file?: string; env?: Record<string, string> } = {}) {
    return loadConfig({ flags: {}, env: {}, cwd, ...options }).config;
  }
  function write(name: string, content: string | Uint8Array): void {
    writeFileSync(join(cwd, name), content);
  }
  function problemOf(options: Parameters<typeof load>[0]): string {
    try {
      load(options);
    } catch (error) {
      if (error instanceof Failure && error.code === 'INVALID') return error.message.split('\n').at(-1) ?? '';
      throw error;
    }
    throw new Error('the file was accepted');
  }

  t.equal(load().home, '.trawl', 'the usual file may be absent');
  t.equal(problemOf({ file: 'none.yaml' }), '  --config: none.yaml: there is no such file');
  t.equal(
    problemOf({ env: { TRAWL_CONFIG: 'none.yaml' } }),
    '  TRAWL_CONFIG: none.yaml: there is no such file',
  );
  t.equal(problemOf({ file: 'config' }), '  --config: config: the file cannot be read (EISDIR)');

  write('config/trawl.yaml', 'home: usual\n');
  write('other.yaml', 'home: other\n');
  write('third.yaml', 'home: third\n');
  t.equal(load().home, 'usual');
  t.equal(load({ env: { TRAWL_CONFIG: 'other.yaml' } }).home, 'other');
  t.equal(load({ env: { TRAWL_CONFIG: 'other.yaml' }, file: join(cwd, 'third.yaml') }).home, 'third');
  t.equal(load({ env: { TRAWL_CONFIG: '' } }).home, 'usual');

  write('other.yaml', '');
  t.equal(load({ file: 'other.yaml' }).home, '.trawl', 'an empty file sets nothing');
  write('other.yaml', Buffer.from('home: a\n', 'utf16le'));
  t.match(problemOf({ file: 'other.yaml' }), 'other.yaml');
  write('other.yaml', Buffer.from([0x68, 0xff, 0xfe]));
  t.equal(problemOf({ file: 'other.yaml' }), '  --config: other.yaml: the file is not UTF-8 text');
  write('other.yaml', `# ${'x'.repeat(1024 * 1024)}`);
  t.equal(problemOf({ file: 'other.yaml' }), '  --config: other.yaml: the file is over 1048576 bytes');
});
