/** What a machine has and uses, read from folders as kernels write them, and from this very machine. */
import t from 'tap';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

import { createResourceReader, type ResourceReader } from '../../src/runtime/resources.ts';
import type { Teardown } from '../kit/nats-server.ts';

const GB = 2 ** 30;
const MACHINE = {
  'proc/meminfo': `MemTotal: ${8 * 2 ** 20} kB\nMemFree: 1 kB\nMemAvailable: ${6 * 2 ** 20} kB\n`,
  'proc/stat': 'cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n',
  'proc/loadavg': '1.25 0.50 0.10 1/100 42\n',
};
const CPU_IDLE = 'cpu  50 0 50 900 0 0 0 0 0 0\n'; // 10 %

interface Stage {
  readonly reader: ResourceReader;
  readonly write: (files: Readonly<Record<string, string>>) => void;
  readonly pass: (ms: number) => void;
}

function setUp(test: Teardown, files: Readonly<Record<string, string>>): Stage {
  const root = mkdtempSync(join(tmpdir(), 'trawl-resources-'));
  test.teardown(() => rmSync(root, { recursive: true, force: true }));
  let now = 0;
  const write: Stage['write'] = (given) => {
    for (const [path, text] of Object.entries(given)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  write({ ...MACHINE, ...files });
  return {
    reader: createResourceReader({ root, diskPath: root, now: () => now }),
    write,
    pass: (ms) => void (now += ms),
  };
}

t.test('without control groups the machine is the limit', async (t) => {
  const { reader, write, pass } = setUp(t, {});
  pass(1_000);
  write({ 'proc/stat': 'cpu  100 0 100 700 50 0 0 50 0 0\n' });
  const { diskPercent, ...rest } = reader.read();
  t.same(rest, {
    cpuPercent: 25,
    memoryPercent: 25,
    load1: 1.25,
    cores: availableParallelism(),
    memoryLimitBytes: 8 * GB,
    memoryUsedBytes: 2 * GB,
  });
  t.ok(diskPercent > 0 && diskPercent <= 100);
});

t.test('version 2: the group of this process and those around it', async (t) => {
  const own = 'sys/fs/cgroup/pods/one';
  const { reader, write, pass } = setUp(t, {
    'proc/self/cgroup': '0::/pods/one\n',
    [`${own}/memory.max`]: `${GB}\n`,
    [`${own}/memory.current`]: `${GB}\n`,
    [`${own}/memory.stat`]: `anon 1\ninactive_file ${GB / 4}\nactive_file 7\n`,
    [`${own}/cpu.max`]: '50000 100000\n',
    [`${own}/cpu.stat`]: 'usage_usec 1000000\nuser_usec 1\n',
    'sys/fs/cgroup/pods/memory.max': 'max\n',
    'sys/fs/cgroup/pods/memory.current': `${GB}\n`,
    'sys/fs/cgroup/pods/cpu.max': 'max 100000\n',
  });
  pass(2_000);
  write({ 'proc/stat': CPU_IDLE, [`${own}/cpu.stat`]: 'usage_usec 1700000\n' });
  t.match(reader.read(), {
    cpuPercent: 70, // 0.7 s of the 1 s that half a core has in 2 s
    memoryPercent: 75,
    cores: 0.5,
    memoryLimitBytes: GB,
    memoryUsedBytes: 0.75 * GB,
  });

  write({
    'sys/fs/cgroup/pods/memory.max': `${2 * GB}\n`,
    'sys/fs/cgroup/pods/memory.current': `${Math.round(1.9 * GB)}\n`,
  });
  t.match(
    reader.read(),
    { memoryPercent: 95, memoryLimitBytes: 2 * GB, cpuPercent: 70 },
    'the group around it is fuller; no time has passed for the CPU',
  );

  write({ 'proc/meminfo': `MemTotal: ${8 * 2 ** 20} kB\nMemAvailable: ${8 * 2 ** 17} kB\n` });
  write({ 'sys/fs/cgroup/pods/memory.max': 'max\n' });
  t.match(reader.read(), { memoryPercent: 87.5, memoryLimitBytes: GB }, 'and so may the machine be');
});

t.test('version 2 in a container whose path is that of its host', async (t) => {
  const { reader } = setUp(t, {
    'proc/self/cgroup': '0::/../../docker/abc\n',
    'sys/fs/cgroup/memory.max': `${GB}\n`,
    'sys/fs/cgroup/memory.current': `${GB / 2}\n`,
  });
  t.match(reader.read(), { memoryPercent: 50, memoryLimitBytes: GB, cores: availableParallelism() });
});

t.test('version 1, beside an empty version 2', async (t) => {
  const own = 'docker/abc';
  const { reader, write, pass } = setUp(t, {
    'proc/self/cgroup': `4:memory:/${own}\n2:cpu,cpuacct:/${own}\n1:name=systemd:/${own}\n0::/\n`,
    [`sys/fs/cgroup/memory/${own}/memory.limit_in_bytes`]: `${GB}\n`,
    [`sys/fs/cgroup/memory/${own}/memory.usage_in_bytes`]: `${GB / 2}\n`,
    [`sys/fs/cgroup/memory/${own}/memory.stat`]: `inactive_file 5\ntotal_inactive_file ${GB / 4}\n`,
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    'sys/fs/cgroup/memory/memory.usage_in_bytes': `${GB}\n`,
    [`sys/fs/cgroup/cpu/${own}/cpu.cfs_quota_us`]: '25000\n',
    [`sys/fs/cgroup/cpu/${own}/cpu.cfs_period_us`]: '100000\n',
    [`sys/fs/cgroup/cpuacct/${own}/cpuacct.usage`]: '5000000000\n',
    'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
    'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  });
  pass(4_000);
  write({ 'proc/stat': CPU_IDLE, [`sys/fs/cgroup/cpuacct/${own}/cpuacct.usage`]: '5400000000\n' });
  t.match(reader.read(), { cpuPercent: 40, memoryPercent: 25, cores: 0.25, memoryLimitBytes: GB });
});

t.test('what is odd or missing is no limit, and no crash', async (t) => {
  const { reader, pass } = setUp(t, {
    'proc/self/cgroup': 'nonsense\n0::/a\n',
    'sys/fs/cgroup/a/memory.max': 'many\n',
    'sys/fs/cgroup/a/cpu.max': '\n',
    'proc/meminfo': 'nothing\n',
    'proc/stat': '',
  });
  pass(1_000);
  t.match(reader.read(), { memoryLimitBytes: totalmem(), cores: availableParallelism() });
});

t.test('this machine', async (t) => {
  const reader = createResourceReader({ diskPath: join(tmpdir(), 'not', 'there', 'yet') });
  const found = reader.read();
  t.ok(found.cores > 0 && found.cores <= availableParallelism());
  t.ok(found.memoryLimitBytes > 0 && found.memoryLimitBytes <= totalmem());
  t.ok(found.memoryUsedBytes > 0 && found.memoryUsedBytes <= found.memoryLimitBytes);
  for (const name of ['cpuPercent', 'memoryPercent', 'diskPercent'] as const)
    t.ok(found[name] >= 0 && found[name] <= 100, `${name} ${found[name]}`);
  t.ok(found.memoryPercent > 0 && found.diskPercent > 0 && found.load1 >= 0);
});
