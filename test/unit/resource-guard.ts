import t from 'tap';
import {
  limitingFactors,
  workersThatFit,
  type Fit,
  type GuardLimits,
  type MachineResources,
} from '../../src/policy/resource-guard.ts';
import { chooseSeed, createRandom } from '../kit/random.ts';

const limits: GuardLimits = {
  cpu: 80,
  memory: 85,
  disk: 90,
  load: 4,
  memoryPerWorker: 500,
  coresPerWorker: 2,
};
const calm: MachineResources = {
  cpuPercent: 10,
  memoryPercent: 20,
  diskPercent: 30,
  load1: 0.5,
  cores: 8,
  memoryLimitBytes: 10_000,
  memoryUsedBytes: 2_000,
};

t.test('what is beyond its limit is named, with both numbers', async (t) => {
  t.same(limitingFactors(calm, limits), []);
  t.same(
    limitingFactors({ ...calm, cpuPercent: 80, memoryPercent: 85, diskPercent: 90, load1: 4 }, limits),
    [],
    'a limit may be reached',
  );
  t.same(
    limitingFactors({ ...calm, cpuPercent: 80.1, memoryPercent: 99, diskPercent: 90.5, load1: 4.01 }, limits),
    [
      { factor: 'cpu', value: 80.1, limit: 80 },
      { factor: 'memory', value: 99, limit: 85 },
      { factor: 'disk', value: 90.5, limit: 90 },
      { factor: 'load', value: 4.01, limit: 4 },
    ],
  );
});

t.test('how many workers fit', async (t) => {
  const table: readonly [string, Partial<MachineResources>, number, Fit][] = [
    ['one for two cores', {}, 0, { count: 4, reason: 'cores' }],
    ['those that run count', {}, 3, { count: 4, reason: 'cores' }],
    ['an odd core', { cores: 7 }, 0, { count: 3, reason: 'cores' }],
    ['half a core', { cores: 0.5 }, 0, { count: 1, reason: 'cores' }],
    ['memory for two more', { memoryUsedBytes: 7_500 }, 1, { count: 3, reason: 'memory' }],
    ['memory for none', { memoryUsedBytes: 8_400 }, 0, { count: 1, reason: 'memory' }],
    ['pressure: those that run', { cpuPercent: 95 }, 2, { count: 2, reason: 'cpu' }],
    ['pressure: not even one', { diskPercent: 95 }, 0, { count: 0, reason: 'disk' }],
    ['the first of several', { load1: 9, memoryPercent: 99 }, 6, { count: 6, reason: 'memory' }],
  ];
  for (const [name, changes, workers, fit] of table)
    t.same(workersThatFit({ ...calm, ...changes }, { workers }, limits), fit, name);
});

t.test('more resources never make room for fewer, and starting one by one ends there', async (t) => {
  const random = createRandom(chooseSeed());
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 2_000; round += 1) {
    const resources = { ...calm, cores: random.int(1, 64), memoryUsedBytes: random.int(0, 8_500) };
    const { count } = workersThatFit(resources, { workers: 0 }, limits);
    const roomier = { ...resources, cores: resources.cores * 2, memoryLimitBytes: 20_000 };
    const where = JSON.stringify(resources);
    if (count < 1) t.fail(`none fits: ${where}`);
    if (workersThatFit(roomier, { workers: 0 }, limits).count < count) t.fail(`fewer with more: ${where}`);
    // Each one that was started uses what was planned for it.
    const used = resources.memoryUsedBytes + count * limits.memoryPerWorker;
    const after = workersThatFit({ ...resources, memoryUsedBytes: used }, { workers: count }, limits);
    if (after.count > count) t.fail(`room appears: ${where}`);
  }
  t.pass('2000 machines');
});
