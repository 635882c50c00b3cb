import t from 'tap';
import {
  apiAddress,
  bytes,
  choice,
  decimal,
  duration,
  host,
  integer,
  ipAndPort,
  list,
  port,
  secret,
  servers,
  text,
  token,
  yesOrNo,
  type Parser,
  type Raw,
} from '../../src/config/parsers.ts';

interface Case {
  readonly parser: Parser<unknown>;
  readonly good: readonly (readonly [Raw, unknown])[];
  readonly bad: readonly Raw[];
}

const CASES: Readonly<Record<string, Case>> = {
  text: {
    parser: text,
    good: [
      ['.trawl', '.trawl'],
      ['two words', 'two words'],
      ['007', '007'],
    ],
    bad: ['', 'two\nlines', 'nul\0', 'tab\there', ['a', 'b'], []],
  },
  token: {
    parser: token(8),
    good: [
      ['trawl', 'trawl'],
      ['A-z_09', 'A-z_09'],
      ['12345678', '12345678'],
    ],
    bad: ['', '123456789', 'a.b', 'a b', 'a*', '>', 'é', ['a']],
  },
  integer: {
    parser: integer({ min: 1, max: 500 }),
    good: [
      ['1', 1],
      ['42', 42],
      ['500', 500],
    ],
    bad: ['', '0', '501', '-1', '+1', '1.5', '1e2', '0x10', '010', ' 1', 'one', '9'.repeat(400), ['1']],
  },
  apiAddress: {
    parser: apiAddress,
    good: [
      ['unix:///var/run/docker.sock', 'unix:///var/run/docker.sock'],
      ['https://kubernetes.default.svc', 'https://kubernetes.default.svc'],
    ],
    bad: ['', 'unix://docker.sock', 'unix:///a b', 'tcp://127.0.0.1:2375', 'https://u:p@host', ['a']],
  },
  decimal: {
    parser: decimal({ min: 0.5, max: 500 }),
    good: [
      ['0.5', 0.5],
      ['4.0', 4],
      ['500', 500],
    ],
    bad: ['', '0.4', '500.1', '-1', '+1', '1.', '.5', '1e2', '0x10', '01.5', '1,5', ' 1', 'one', ['1']],
  },
  port: {
    parser: port({ min: 0 }),
    good: [
      ['0', 0],
      ['8080', 8080],
      ['65535', 65_535],
    ],
    bad: ['', '65536', '-1', 'http', ':80', '80/tcp'],
  },
  'port of at least 1': { parser: port({ min: 1 }), good: [['1', 1]], bad: ['0'] },
  duration: {
    parser: duration({ minMs: 250 }),
    good: [
      ['250', 250],
      ['250ms', 250],
      ['30s', 30_000],
      ['5m', 300_000],
      ['1h', 3_600_000],
      ['1.5s', 1500],
      ['1.1s', 1100],
      ['24h', 86_400_000],
    ],
    bad: [
      '',
      '249',
      '0.2s',
      '-30s',
      '30 s',
      '30S',
      '1d',
      '1h30m',
      's',
      '25h',
      '.5s',
      '1e3',
      'Infinity',
      'NaN',
      ['30s'],
    ],
  },
  'duration that may be nothing': {
    parser: duration({ minMs: 0 }),
    good: [
      ['0', 0],
      ['0s', 0],
    ],
    bad: ['-1s'],
  },
  bytes: {
    parser: bytes,
    good: [
      ['1', 1],
      ['512B', 512],
      ['256MB', 256_000_000],
      ['256mb', 256_000_000],
      ['1KiB', 1024],
      ['1GiB', 1_073_741_824],
      ['1.5 GiB', 1_610_612_736],
      ['2TB', 2_000_000_000_000],
      ['1TiB', 1_099_511_627_776],
    ],
    bad: ['', '0', '-1', '1G', '1iB', '1PB', 'GiB', '1  GB', '99999999TiB', '1e9', ['1']],
  },
  'yes or no': {
    parser: yesOrNo,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['', 'yes', 'TRUE', '1', ['true']],
  },
  'ip and port': {
    parser: ipAndPort,
    good: [
      ['127.0.0.1:8080', '127.0.0.1:8080'],
      ['[::1]:80', '[::1]:80'],
    ],
    bad: [
      '',
      '127.0.0.1',
      'localhost:80',
      '127.0.0.1:0',
      '127.0.0.1:65536',
      '::1:80',
      '300.0.0.1:80',
      '[1.2.3.4]:80',
    ],
  },
  'choice of words': {
    parser: choice('always', 'interval'),
    good: [
      ['always', 'always'],
      ['interval', 'interval'],
    ],
    bad: ['', 'Always', 'never', 'alway', ['always']],
  },
  'choice of numbers': {
    parser: choice(1, 3),
    good: [
      ['1', 1],
      ['3', 3],
    ],
    bad: ['', '2', '01', '1.0'],
  },
  host: {
    parser: host,
    good: [
      ['localhost', 'localhost'],
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
      ['a-1.example.com', 'a-1.example.com'],
      ['4chan.example', '4chan.example'],
    ],
    bad: [
      '',
      '256.1.1.1',
      '1.2.3',
      'http://x',
      'a b',
      'a:80',
      '-a',
      'a-',
      'a..b',
      'x'.repeat(64),
      '[::1]',
      ['a'],
    ],
  },
  list: {
    parser: list(token(8), 'names'),
    good: [
      ['a', ['a']],
      ['a,b', ['a', 'b']],
      ['a , b', ['a', 'b']],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
      [
        ['a,b', 'c'],
        ['a', 'b', 'c'],
      ],
    ],
    bad: ['', 'a,', ',a', 'a,,b', 'a,b.c', [], ['a', '']],
  },
  servers: {
    parser: servers,
    good: [
      ['nats://127.0.0.1:4222', ['nats://127.0.0.1:4222']],
      ['tls://nats.example.com', ['tls://nats.example.com']],
      ['localhost', ['localhost']],
      ['localhost:4222', ['localhost:4222']],
      ['nats://[::1]:4222', ['nats://[::1]:4222']],
      ['nats://a:1/', ['nats://a:1/']],
      ['nats://a:1, nats://b:2', ['nats://a:1', 'nats://b:2']],
      [
        ['nats://a:1', 'nats://b:2'],
        ['nats://a:1', 'nats://b:2'],
      ],
    ],
    bad: [
      '',
      'http://a',
      'nats://',
      'nats://a:0',
      'nats://a:65536',
      'nats://a:port',
      'nats://a:1/path',
      'nats://[a]:1',
      '::1',
      'nats://a b',
      'nats://u:p@a:1',
      'nats://token@a',
      'nats://u:p,w@a',
      ['nats://a', 'nats://u:p@b'],
      [],
    ],
  },
};

for (const [name, { parser, good, bad }] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    for (const [raw, value] of good)
      t.same(parser.parse(raw), { ok: true, value }, `takes ${JSON.stringify(raw)}`);
    for (const raw of bad) t.equal(parser.parse(raw).ok, false, `refuses ${JSON.stringify(raw)}`);
  });
}

t.test('a secret is wrapped as it is, spaces and all', async (t) => {
  const parsed = secret.parse(' s3cret ');
  t.equal(parsed.ok && parsed.value.reveal(), ' s3cret ');
  t.equal(secret.parse('').ok, false);
  t.equal(secret.parse(['a']).ok, false);
});

t.test('the range of a duration is named in its own units', async (t) => {
  t.match(duration({ minMs: 1000 }).allowed, 'from 1s to 24h');
  t.match(duration({ minMs: 250 }).allowed, 'from 250ms to 24h');
});

t.test('the options of a choice read as a sentence', async (t) => {
  t.equal(choice('a', 'b', 'c').allowed, 'a, b or c');
  t.equal(choice(1, 3).allowed, '1 or 3');
});
