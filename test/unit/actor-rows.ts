import t from 'tap';
import type { Beat } from '../../src/domain/beat.ts';
import { planActorRows, type LocalProcess } from '../../src/policy/actor-rows.ts';

const limits = { intervalMs: 30_000, deadAfterMs: 120_000 };
const now = 1_000_000;

const beat = (id: string, changes: Partial<Beat> = {}): Beat => ({
  id,
  role: 'worker',
  host: 'h',
  place: 'p',
  pid: 7,
  version: '1',
  startedAt: 1,
  beatAt: now,
  status: 'running',
  paused: false,
  inFlight: 2,
  limits: {},
  ...changes,
});
const child = (name: string, changes: Partial<LocalProcess> = {}): LocalProcess => ({
  name,
  role: 'worker',
  pid: 8,
  state: 'up',
  restarts: 0,
  startedAt: 1,
  ...changes,
});
const stateOf = (beats: Beat[], processes: LocalProcess[] = []): string[] =>
  planActorRows({ beats, processes, now, limits }).map(({ id, state }) => `${id} ${state}`);

t.test('heartbeats tell the state, and silence does', async (t) => {
  t.same(stateOf([beat('a')]), ['a running']);
  t.same(stateOf([beat('a', { paused: true })]), ['a paused']);
  t.same(stateOf([beat('a', { beatAt: now - 60_000 })]), ['a late']);
  t.same(stateOf([beat('a', { beatAt: now - 120_000 })]), ['a dead']);
  t.same(stateOf([beat('a', { status: 'stopped', beatAt: now - 120_000 })]), ['a stopped']);
});

t.test('a worker tells how many slots it has, and what limits it', async (t) => {
  const vitals = { memoryBytes: 5e7, cpuPercent: 12.5, slotsNow: 2, starved: 1, limitedBy: ['memory'] };
  const worker = beat('a', { ...vitals, limits: { concurrency: 10 } });
  const [row] = planActorRows({ beats: [worker], processes: [], now, limits });
  t.match(row, { ...vitals, slots: 10, inFlight: 2 });
});

t.test('the supervisor knows better about its own processes', async (t) => {
  t.same(stateOf([beat('a')], [child('a', { state: 'restarting', pid: undefined })]), ['a restarting']);
  t.same(stateOf([beat('a')], [child('a')]), ['a running']);
  t.same(
    stateOf([beat('a')], [child('a', { role: 'exporter' })]),
    ['a running', 'a up'],
    'another role is another actor',
  );
});

t.test('servers first, then roles and ids in order, then those that never beat', async (t) => {
  const rows = stateOf(
    [beat('w10'), beat('w9'), beat('c', { role: 'coordinator' })],
    [child('nats-1', { role: 'nats' }), child('w11', { state: 'failed' })],
  );
  t.same(rows, ['nats-1 up', 'c running', 'w9 running', 'w10 running', 'w11 failed']);
});
