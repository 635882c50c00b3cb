import t from 'tap';
import { judgeCluster, type ClusterFacts, type ProcessRecord } from '../../src/policy/half-dead.ts';
import { planStopOrder } from '../../src/policy/stop-order.ts';

const supervisor: ProcessRecord = { name: 'supervisor', role: 'supervisor', pid: 10, mark: 'a' };
const nats: ProcessRecord = { name: 'nats-1', role: 'nats', pid: 11, mark: 'b' };
const worker: ProcessRecord = { name: 'worker-1', role: 'worker', pid: 12, mark: 'c' };
const facts: ClusterFacts = {
  answers: false,
  recordedPhase: 'up',
  supervisor,
  children: [nats, worker],
  marks: new Map(),
};

t.test('the condition of a cluster', async (t) => {
  const marks = (...pairs: [number, string][]): Partial<ClusterFacts> => ({ marks: new Map(pairs) });
  const cases: [string, Partial<ClusterFacts>, string, string[]][] = [
    ['the supervisor answers', { answers: true, ...marks([10, 'a'], [11, 'b']) }, 'running', ['nats-1']],
    ['it lives and is deaf', marks([10, 'a'], [11, 'b'], [12, 'c']), 'silent', ['nats-1', 'worker-1']],
    ['only a server lives', marks([11, 'b']), 'half-dead', ['nats-1']],
    ['a machine that was restarted', {}, 'stale', []],
    ['every pid is somebody else now', marks([10, 'x'], [11, 'y'], [12, 'z']), 'stale', []],
    ['after down', { recordedPhase: 'stopped', supervisor: undefined, children: [] }, 'stopped', []],
    ['never started', { recordedPhase: undefined, supervisor: undefined, children: [] }, 'absent', []],
    [
      'a server known from its pid file only',
      { recordedPhase: undefined, supervisor: undefined, children: [nats], ...marks([11, 'b']) },
      'half-dead',
      ['nats-1'],
    ],
  ];
  for (const [what, changes, condition, alive] of cases) {
    const verdict = judgeCluster({ ...facts, ...changes });
    t.equal(verdict.condition, condition, what);
    t.strictSame(
      verdict.alive.map(({ name }) => name),
      alive,
      what,
    );
  }
});

t.test('a pid whose mark differs is never ours', async (t) => {
  const verdict = judgeCluster({ ...facts, marks: new Map([[12, 'another start']]) });
  t.strictSame(verdict.alive, []);
  t.strictSame(verdict.reused, [worker]);
});

t.test('watchers stop first, servers last, and nobody is forgotten', async (t) => {
  const roles = [
    'nats',
    'worker',
    'coordinator',
    'unknown',
    'exporter',
    'worker',
    'proxy-manager',
    'autoscaler',
    'nats',
  ];
  t.strictSame(
    planStopOrder(roles.map((role) => ({ role }))).map((group) => group.map(({ role }) => role)),
    [
      ['unknown'],
      ['autoscaler'],
      ['exporter'],
      ['worker', 'worker'],
      ['proxy-manager'],
      ['coordinator'],
      ['nats', 'nats'],
    ],
  );
});
