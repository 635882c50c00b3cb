/** Who counts as alive, and who may take an id. */
import t from 'tap';
import { spawnSync } from 'node:child_process';
import type { Beat } from '../../src/domain/beat.ts';
import { decideClaim, judgeLiveness, type Claim, type Liveness } from '../../src/policy/liveness.ts';
import { isProcessRunning, readPlace } from '../../src/runtime/place.ts';

const NOW = 1_700_000_000_000;
const limits = { intervalMs: 30_000, deadAfterMs: 120_000 };

const beat: Beat = {
  id: 'w1',
  role: 'worker',
  host: 'host-1',
  place: 'here',
  pid: 17,
  version: '1.2.3',
  startedAt: NOW - 3_600_000,
  beatAt: NOW,
  status: 'running',
  paused: false,
  inFlight: 0,
  limits: {},
};

const silences: readonly [number, Beat['status'], Liveness][] = [
  [0, 'running', 'alive'],
  [59_999, 'running', 'alive'],
  [60_000, 'running', 'late'],
  [119_999, 'draining', 'late'],
  [120_000, 'running', 'dead'],
  [120_000, 'initializing', 'dead'],
  [1e9, 'stopped', 'stopped'],
  [0, 'stopped', 'stopped'],
  [-5_000, 'running', 'alive'], // a clock that is ahead of ours
];

t.test('liveness follows the silence', async (t) => {
  for (const [silentMs, status, expected] of silences) {
    const [verdict] = judgeLiveness([{ ...beat, status, beatAt: NOW - silentMs }], NOW, limits);
    t.equal(verdict?.liveness, expected, `${status}, silent for ${silentMs} ms`);
    t.equal(verdict?.silentMs, Math.max(0, silentMs));
  }
  t.same(judgeLiveness([], NOW, limits), []);
});

t.test('an actor only ever goes from alive to late to dead', async (t) => {
  const order: Liveness[] = ['alive', 'late', 'dead'];
  let before = 0;
  for (let silentMs = 0; silentMs < 200_000; silentMs += 997) {
    const [verdict] = judgeLiveness([beat], NOW + silentMs, limits);
    const rank = order.indexOf(verdict?.liveness ?? 'stopped');
    t.ok(rank >= before);
    before = rank;
  }
  t.equal(before, 2);
});

const refused: Claim = {
  verdict: 'refuse',
  message: `another worker with id w1 is running on host host-1 (pid 17) since ${new Date(beat.startedAt).toISOString()}`,
};
const claims: readonly [string, Beat | undefined, string, boolean, Claim][] = [
  ['nobody', undefined, 'here', false, { verdict: 'free' }],
  ['stopped', { ...beat, status: 'stopped' }, 'there', true, { verdict: 'take-over', reason: 'stopped' }],
  ['gone from this place', beat, 'here', false, { verdict: 'take-over', reason: 'process-gone' }],
  ['running in this place', beat, 'here', true, refused],
  ['elsewhere, where its pid means nothing', beat, 'there', false, refused],
  ['draining elsewhere', { ...beat, status: 'draining' }, 'there', true, refused],
];

t.test('an id is given only when its holder is certainly gone', async (t) => {
  for (const [what, existing, place, running, expected] of claims)
    t.same(
      decideClaim(existing, place, () => running),
      expected,
      what,
    );
});

t.test('a place is the same for every process in it, and knows who runs there', async (t) => {
  const program = `import('${new URL('../../src/runtime/place.js', import.meta.url).href}').then((m) => console.log(m.readPlace()))`;
  const child = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  t.equal(child.stdout.trim(), readPlace());
  t.match(readPlace(), /^[0-9a-f]{16}$/);

  t.ok(isProcessRunning({ pid: process.pid, startedAt: Date.now() }), 'this one');
  t.notOk(isProcessRunning({ pid: process.pid, startedAt: Date.now() - 1e9 }), 'an earlier one with our pid');
  t.ok(isProcessRunning({ pid: process.ppid, startedAt: 0 }), 'our parent');
  t.notOk(isProcessRunning({ pid: child.pid, startedAt: Date.now() }), 'one that has ended');
});
