import t from 'tap';
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
  ports: [{ port: 4222, use: 'NATS', state: 'ours' }],
  disk: { freeBytes: 20 * GIB, usedBytes: GIB, limitBytes: 8 * GIB },
};

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

t.test('each fault is found, graded, and has a way out', async (t) => {
  const table: [
    name: string,
    facts: Partial<Facts>,
    check: string,
    level: Finding['level'],
    detail: RegExp,
  ][] = [
    ['old Node', { nodeVersion: '20.18.3' }, 'node', 'fail', /too old/],
    ['no server', { server: undefined, serverProblem: 'nobody home' }, 'nats-server', 'fail', /nobody home/],
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
    [
      'port taken',
      { ports: [{ port: 4222, use: 'NATS', state: 'foreign' }] },
      'port',
      'fail',
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
  for (const [name, facts, check, level, detail] of table) {
    const finding = find(facts, check);
    t.match(finding, { level, detail }, name);
    t.ok(finding?.todo, `${name}: says what to do`);
  }
});

t.test('what cannot be found out is skipped, not guessed', async (t) => {
  t.match(find({ syncAlways: undefined }, 'durability'), { level: 'skip' });
  t.match(find({ clockSkewMs: undefined }, 'clock'), { level: 'skip' });
  t.match(find({ disk: undefined }, 'disk'), { level: 'skip' });
  t.equal(find({ server: undefined }, 'topology'), undefined, 'without a server nothing is asked of it');
});
