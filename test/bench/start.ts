/**
 * Footprint: how long a whole cluster takes to come up, what it costs when nothing is to be done, and the memory of its
 * processes; beside an idle worker of BullMQ with its Redis, and a process of Crawlee.
 *
 * What has just come up is not idle yet: code is compiled, garbage of the start is collected. So all rest before they
 * are watched, all together, because who is idle is in nobody's way, and only in the last round.
 *
 *   node dist/test/bench/start.js [--quick] [--rounds N] [--record] [--json FILE]
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readClusterState, recordsOf } from '../../src/local/state.ts';
import { temporaryFolder, type Teardown } from '../kit/nats-server.ts';
import { installTrawl, type Program } from '../kit/trawl.ts';
import { cpuUs, ownRssMb, rssMb } from './harness/cpu.ts';
import { hasPackage, startPeer } from './harness/peer.ts';
import { findRedis, startRedis } from './harness/redis.ts';
import { openBench, target } from './harness/report.ts';
import { packageVersion } from './harness/versions.ts';
import { median } from './measure.ts';
import { withTeardown } from './stage.ts';

const bench = openBench('start');
const SETTLE_MS = bench.size(75_000, 200);
const IDLE_MS = bench.size(20_000, 500);
const IDLE_ROUNDS = 1;

interface Rise {
  readonly name: string;
  readonly round: number;
  readonly upMs: number;
  /** Once more, with streams and records that are there. */
  readonly againMs: number | undefined;
}

interface Footprint {
  readonly name: string;
  readonly round: number;
  readonly idleCpuPercent: number;
  readonly totalMb: number;
  /** The largest process that works. */
  readonly workerMb: number;
  readonly processes: Readonly<Record<string, number>>;
}

type Started = {
  readonly pids: Readonly<Record<string, number>>;
  readonly isWorker: (name: string) => boolean;
  /** Stops it; what comes of it starts it again, where it was. */
  readonly stop?: () => Promise<() => Promise<Started>>;
};
type Starter = { readonly name: string; readonly start: (t: Teardown) => Promise<Started> };

const versions: Record<string, string> = {};
const absent: string[] = [];
const starters = listStarters();
const rises: Rise[] = [];
const footprints: Footprint[] = [];
for (let round = 1 - bench.warm; round <= bench.rounds; round += 1)
  await withTeardown(async (t) => {
    const idle: (Started & { readonly name: string })[] = [];
    for (const { name, start } of starters) {
      const first = await timed(() => start(t));
      const upMs = first.ms;
      const startAgain = await first.result.stop?.();
      const second = startAgain && (await timed(startAgain));
      idle.push({ name, ...(second ?? first).result });
      // The first round warms up the caches of the disk.
      if (round > 0) rises.push({ name, round, upMs, againMs: second?.ms });
      bench.say(`  round ${round}, ${name}: up in ${Math.round(upMs)} ms`);
    }
    if (round <= bench.rounds - IDLE_ROUNDS) return;
    const watched = idle.map(async (each) => ({ name: each.name, round, ...(await watchIdle(each)) }));
    footprints.push(...(await Promise.all(watched)));
  });

const medianOf = <T extends { name: string }>(rows: T[], name: string, value: (row: T) => number): number =>
  median(rows.filter((row) => row.name === name).map(value));
const of = (name: string, value: (row: Footprint) => number): number => medianOf(footprints, name, value);
const secondOf = (name: string): number | undefined => {
  const times = rises.flatMap((row) => (row.name === name && row.againMs !== undefined ? [row.againMs] : []));
  return times.length > 0 ? median(times) : undefined;
};
const ours = starters[0]?.name ?? '';
const memory = footprints.filter(({ name }) => name === ours).at(-1)?.processes ?? {};
bench.finish({
  tables: [
    {
      title: 'started, and left alone',
      head: ['what', 'up after ms', 'the second time', 'idle CPU %', 'all processes MB', 'a worker MB'],
      rows: starters.map(({ name }) => [
        name,
        medianOf(rises, name, ({ upMs }) => upMs).toFixed(0),
        secondOf(name)?.toFixed(0) ?? '-',
        of(name, ({ idleCpuPercent }) => idleCpuPercent).toFixed(2),
        of(name, ({ totalMb }) => totalMb).toFixed(0),
        of(name, ({ workerMb }) => workerMb).toFixed(0),
      ]),
    },
    {
      title: 'memory of each process of ours, last round',
      head: ['process', 'MB'],
      rows: Object.entries(memory).map(([name, mb]) => [name, mb.toFixed(0)]),
    },
  ],
  targets: [
    target('a second `up`, all actors running, ms', secondOf(ours), { max: 5_000 }),
    target(
      'idle CPU of the cluster, %',
      of(ours, ({ idleCpuPercent }) => idleCpuPercent),
      { max: 2 },
    ),
    target(
      'memory of a worker, MB',
      of(ours, ({ workerMb }) => workerMb),
      { max: 90 },
    ),
  ],
  absent,
  checks: ['shipped settings but for home and ports'],
  versions,
  settings: {
    trawl: '`trawl up`: nats-server, coordinator, proxy-manager, 3 workers, exporter, autoscaler, supervisor',
    'idle CPU': `of one core, all processes together, over ${IDLE_MS / 1_000} s after ${SETTLE_MS / 1_000} s of rest, in the last round`,
  },
  rows: [...rises, ...footprints],
});

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const began = performance.now();
  const result = await work();
  return { result, ms: performance.now() - began };
}

function listStarters(): Starter[] {
  const found: Starter[] = [{ name: 'trawl, local cluster', start: startCluster }];
  const redis = hasPackage('bullmq') ? findRedis() : undefined;
  if (redis !== undefined) {
    versions['bullmq'] = packageVersion('bullmq');
    found.push({ name: 'BullMQ worker + Redis', start: (t) => startBullmq(t, redis) });
  } else absent.push('BullMQ + Redis: one of them is not to be had');
  if (hasPackage('@crawlee/cheerio')) {
    versions['crawlee'] = packageVersion('@crawlee/cheerio');
    found.push({ name: 'Crawlee process', start: startCrawlee });
  } else absent.push('Crawlee: not installed in test/bench');
  return found;
}

async function startCluster(t: Teardown): Promise<Started> {
  const trawl = await installTrawl(t);
  return {
    ...(await bringUp(trawl)),
    async stop() {
      await runWell(trawl, 'down');
      return () => bringUp(trawl);
    },
  };
}

async function runWell(trawl: Program, command: string): Promise<void> {
  const { code, stderr } = await trawl.run(command);
  if (code !== 0) throw new Error(`trawl ${command}: ${stderr}`);
}

async function bringUp(trawl: Program): Promise<Started> {
  await runWell(trawl, 'up');
  const state = readClusterState(join(trawl.home, 'cluster.json'));
  if (!state) throw new Error('the cluster has left no record');
  const records = recordsOf(state).map(({ name, pid }) => [name, pid] as const);
  return {
    pids: Object.fromEntries([...records, ['supervisor', state.supervisor.pid] as const]),
    isWorker: (name) => name.startsWith('worker'),
  };
}

async function startBullmq(t: Teardown, program: string): Promise<Started> {
  const { pid, port, version } = await startRedis(t, program);
  versions['redis'] = version;
  const worker = await startPeer(t, 'bullmq.mjs', { port });
  await worker.call('start', { queue: 'idle', count: 1e9 });
  return { pids: { worker: worker.pid, redis: pid }, isWorker: (name) => name === 'worker' };
}

async function startCrawlee(t: Teardown): Promise<Started> {
  const settings = { kind: 'cheerio', site: '', atOnce: 1, folder: temporaryFolder(t), wanted: {} };
  const worker = await startPeer(t, 'crawlee.mjs', settings);
  return { pids: { worker: worker.pid }, isWorker: () => true };
}

async function watchIdle({ pids, isWorker }: Started): Promise<Omit<Footprint, 'name' | 'round'>> {
  await delay(SETTLE_MS);
  const everyone = Object.values(pids);
  const before = cpuUs(everyone);
  const began = performance.now();
  await delay(IDLE_MS);
  const idleCpuPercent = ((cpuUs(everyone) - before) / 1_000 / (performance.now() - began)) * 100;
  const processes = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, ownRssMb(pid)]));
  const workers = Object.entries(processes).filter(([name]) => isWorker(name));
  return {
    idleCpuPercent,
    totalMb: rssMb(everyone),
    workerMb: Math.max(...workers.map(([, mb]) => mb)),
    processes,
  };
}
