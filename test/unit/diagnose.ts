import t from 'tap';
import { settings } from '../../src/config/catalogue.ts';
import { diagnose, type Facts, type Finding } from '../../src/policy/diagnose.ts';

const GIB = 2 ** 30;

const healthy: Facts = {
  nodeVersion: '20.19.0',
  server: { version: '2.14.0', name: 'n1' },
  jetstream: true,
  topology: [{ name: 'TASKS', state: 'same', detail: '' }],
  syncAlways: true,
  durability: 'always',
  clockSkewMs: 3,
  isLocal: true,
  ports: [{ port: 4222, use: 'NATS', state: 'ours' }],
  scrapers: { names: ['shop', 'echo'], problems: [] },
  disk: { freeBytes: 20 * GIB, usedBytes: GIB, limitBytes: 8 * GIB },
};

t.test('scrapers that could be loaded, and each that could not', async (t) => {
  const findings = (scrapers: Facts['scrapers']): Finding[] =>
    diagnose({ ...healthy, scrapers }).filter(({ check }) => check === 'scrapers');
  t.match(findings(healthy.scrapers), [{ level: 'ok', detail: '2: echo, shop' }]);
  t.match(findings({ names: [], problems: [{ file: 'a.mjs', reason: 'line 3: Unexpected token' }] }), [
    { level: 'ok', detail: 'none here' },
    { level: 'warn', detail: 'a.mjs is left out: line 3: Unexpected token', todo: /^Mend it/ },
  ]);
});

function find(facts: Partial<Facts>, check: string): Finding | undefined {
  return diagnose({ ...healthy, ...facts }).find((finding) => finding.check === check);
}

t.test('a healthy cluster has nothing to do', async (t) => {
  const findings = diagnose(healthy);
  t.same(new Set(findings.map(({ level }) => level)), new Set(['ok']));
  t.same(
    findings.filter(({ todo }) => todo !== undefined),
    [],
  );
});

type Fault = [
  name: string,
  facts: Partial<Facts>,
  check: string,
  level: Finding['level'],
  detail: RegExp,
  todo?: RegExp,
];

const nobody = { server: undefined, serverProblem: { detail: 'nobody home', todo: undefined } };
const taken = [{ port: 4222, use: 'NATS', state: 'foreign' }] as const;

const faults: readonly Fault[] = [
  ['old Node', { nodeVersion: '20.18.3' }, 'node', 'fail', /too old/],
  ['no server', nobody, 'nats-server', 'fail', /nobody home/, /trawl up/],
  [
    'a server that refuses us',
    { server: undefined, serverProblem: { detail: 'wrong password', todo: 'Set nats.password.' } },
    'nats-server',
    'fail',
    /wrong password/,
    /^Set nats\.password\.$/,
  ],
  ['old server', { server: { version: '2.13.9', name: 'n1' } }, 'nats-server', 'fail', /2\.13\.9/],
  ['no JetStream', { jetstream: false }, 'jetstream', 'fail', /does not answer/],
  [
    'missing stream',
    { topology: [{ name: 'TASKS', state: 'missing', detail: '' }] },
    'topology',
    'fail',
    /TASKS is missing/,
  ],
  [
    'drifted stream',
    { topology: [{ name: 'TASKS', state: 'drifted', detail: 'x' }] },
    'topology',
    'warn',
    /TASKS differs \(x\)/,
  ],
  ['topology unreadable', { topologyProblem: 'timeout' }, 'topology', 'fail', /timeout/],
  ['less durable than asked', { syncAlways: false }, 'durability', 'fail', /at intervals/],
  ['more durable than asked', { durability: 'interval' }, 'durability', 'warn', /always/],
  ['clock a bit off', { clockSkewMs: -500 }, 'clock', 'warn', /500 ms/],
  ['clock far off', { clockSkewMs: 5_000 }, 'clock', 'fail', /5000 ms/],
  ['port taken', { ...nobody, ports: taken }, 'port', 'fail', /another program/, /Stop it/],
  ['port of the server that is used', { ports: taken }, 'port', 'warn', /another program/, /Only a local/],
  [
    'port that another cluster does not need',
    { ...nobody, isLocal: false, ports: taken },
    'port',
    'warn',
    /another program/,
  ],
  [
    'disk too small',
    { disk: { freeBytes: 7 * GIB, usedBytes: GIB, limitBytes: 8 * GIB } },
    'disk',
    'warn',
    /7\.0 GiB free/,
  ],
];

t.test('each fault is found, graded, and has a way out', async (t) => {
  for (const [name, facts, check, level, detail, todo = /./] of faults)
    t.match(find(facts, check), { level, detail, todo }, name);
});

t.test('whatever flag or setting it names exists', async (t) => {
  const todos = faults.map(([, facts, check]) => find(facts, check)?.todo ?? '').join('\n');
  const flags = [...todos.matchAll(/--([a-z][a-z-]*)/g)].map(([, flag]) => flag);
  const paths = [...todos.matchAll(/\b[a-z]+\.[a-z]\w*/g)].map(([path]) => path);
  t.ok(flags.length > 0);
  t.ok(paths.length > 0);
  for (const flag of flags)
    t.ok(
      settings.some((setting) => setting.flag === flag),
      `--${flag}`,
    );
  for (const path of paths)
    t.ok(
      settings.some((setting) => setting.path === path),
      path,
    );
});

t.test('what cannot be found out is skipped, not guessed', async (t) => {
  t.match(find({ syncAlways: undefined }, 'durability'), { level: 'skip' });
  t.match(find({ clockSkewMs: undefined }, 'clock'), { level: 'skip' });
  t.match(find({ disk: undefined }, 'disk'), { level: 'skip' });
  t.equal(find({ server: undefined }, 'topology'), undefined, 'without a server nothing is asked of it');
});
