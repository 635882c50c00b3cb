/** A worker under pressure: it runs fewer tasks at once, says so, recovers, and loses nothing. */
import t from 'tap';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createStrainReader } from '../../src/cluster/read-strain.ts';
import { createResourceReader } from '../../src/runtime/resources.ts';
import { watchLoopDelay } from '../../src/telemetry/loop-delay.ts';
import { program } from '../../src/program.ts';
import { watch } from '../kit/actors.ts';
import { guard, startNatsServer, temporaryFolder } from '../kit/nats-server.ts';
import { untilSo } from '../kit/small-cluster.ts';
import { startWorker } from '../kit/task-worker.ts';
import { createTaskWorld } from '../kit/task-world.ts';

const server = await startNatsServer(t);
const world = await createTaskWorld(t, server);

t.test('handlers that block the loop, in a process of their own', async (t) => {
  const folder = temporaryFolder(t);
  const press = join(folder, 'press');
  mkdirSync(join(folder, 'scrapers'));
  writeFileSync(press, '');
  writeFileSync(
    join(folder, 'scrapers/blocker.mjs'),
    `import { existsSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
export const scraper = {
  name: 'blocker', retries: 0,
  async run({ emit }) {
    while (existsSync(${JSON.stringify(press)})) {
      for (const end = performance.now() + 60; performance.now() < end;);
      await turn();
    }
    emit({ n: 1 });
  },
};`,
  );
  const scrapers = join(folder, 'scrapers');
  const beats = await watch(t, world.bucket);
  const settled = await world.follow('pressed');
  const run = (...words: string[]) => {
    const child = spawn(process.execPath, [program.main, ...words, '--nats-url', server.url], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    guard(child);
    t.teardown(() => void child.kill('SIGKILL'));
    return child;
  };
  const guards = ['--guard-interval', '200ms', '--guard-memory', '100', '--guard-cpu', '100'];
  const worker = run('worker', '--id', 'w1', '--scrapers', scrapers, '--concurrency', '8', ...guards);
  worker.stdout.resume();

  await world.put(
    Array.from({ length: 40 }, (_, index) => ({ run: 'pressed', key: `k${index}`, scraper: 'blocker' })),
  );
  const lowered = await beats.until('w1', ({ slotsNow = 8 }) => slotsNow < 8);
  t.match(lowered, { limits: { concurrency: 8 }, limitedBy: ['loop'], starved: 0 });
  t.ok((lowered.memoryBytes ?? 0) > 1e6 && (lowered.cpuPercent ?? 0) > 0, 'it knows what it uses');

  const table = await text(run('status').stdout);
  t.match(table, /IN FLIGHT +LIMITED BY/);
  t.match(table, /w1 +worker +running .* \d+\/[1-4] +loop /);

  rmSync(press);
  const outcomes = await settled.until(40);
  t.ok([...outcomes.values()].every(({ state }) => state === 'done'));
  await untilSo(
    () => Promise.resolve(beats.of('w1').at(-1)),
    (beat) => beat?.slotsNow === 8 && beat.limitedBy?.length === 0,
  );
  worker.kill('SIGTERM');
  t.same(await once(worker, 'exit'), [0, null]);
});

t.test('memory against the limit of a container', async (t) => {
  const root = temporaryFolder(t);
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  const use = (percent: number): void => write('sys/fs/cgroup/pod/memory.current', `${percent * 10_000}\n`);
  write('proc/self/cgroup', '0::/pod\n');
  write('proc/meminfo', 'MemTotal: 8000000 kB\nMemAvailable: 7000000 kB\n');
  write('sys/fs/cgroup/pod/memory.max', '1000000\n');
  use(30);

  const loopDelay = watchLoopDelay();
  t.teardown(() => loopDelay.stop());
  const settled = await world.follow('r');
  const holding = new Set<() => void>();
  let started = 0;
  let isHolding = true;
  const worker = startWorker(t, {
    connection: world.connection,
    limits: {
      concurrency: 8,
      // The loop is that of the test, and the CPU that of the machine.
      pressure: { memoryPercent: 85, cpuPercent: 100, loopLagMs: 60_000, intervalMs: 20 },
    },
    readStrain: createStrainReader({ loopDelay, resources: createResourceReader({ root }) }),
    scrapers: [
      {
        name: 'hold',
        async run() {
          started += 1;
          if (isHolding) await new Promise<void>((resolve) => holding.add(resolve));
          else await new Promise(setImmediate);
        },
      },
    ],
  });
  const until = (isSo: () => boolean): Promise<unknown> => untilSo(() => Promise.resolve(isSo()), Boolean);
  const release = (): void => {
    for (const resolve of holding) resolve();
    holding.clear();
  };
  await world.put(
    Array.from({ length: 40 }, (_, index) => ({ run: 'r', key: `k${index}`, scraper: 'hold' })),
  );
  await until(() => holding.size === 8);
  t.same(worker.vitals(), { slotsNow: 8, limitedBy: [] });

  use(90);
  await until(() => worker.vitals().slotsNow === 1);
  t.same(worker.vitals(), { slotsNow: 1, limitedBy: ['memory'] });
  t.same([holding.size, started], [8, 8], 'nothing that ran was ended, and nothing was started');
  release();
  await until(() => holding.size === 1 && settled.outcomes.size === 8);
  for (let round = 1; round <= 4; round += 1) {
    release();
    await until(() => settled.outcomes.size === 8 + round && holding.size === 1);
  }
  t.equal(started, 13, 'one at a time');

  use(30);
  await until(() => worker.vitals().slotsNow === 8);
  await until(() => holding.size === 8);
  t.same(worker.vitals().limitedBy, []);
  isHolding = false;
  release();
  await settled.until(40);
  await until(() => worker.inFlight() === 0);
  t.ok(
    [...settled.outcomes.values()].every((outcomes) => outcomes.length === 1),
    'each has one outcome',
  );
  t.ok([...settled.outcomes.values()].every(([outcome]) => outcome?.state === 'done'));
  t.equal(started, 40, 'and each ran once');
  t.equal(await world.left(), 0);
});
