/**
 * What this machine, or the part of it that this process was given, has and uses. Where limits lie within limits, the
 * fullest one counts: a container at its limit is full on an empty machine, and the other way round.
 */
import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, cpus, freemem, loadavg, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openCgroup, type CpuLevel, type MemoryLevel } from './cgroup.ts';

export interface Resources {
  /** Of all cores that may be used, since the last reading. */
  readonly cpuPercent: number;
  readonly memoryPercent: number;
  readonly diskPercent: number;
  /** Load average of the last minute. */
  readonly load1: number;
  /** That may be used; less than one where a quota says so. */
  readonly cores: number;
  /** Of the limit that leaves the least room. */
  readonly memoryLimitBytes: number;
  readonly memoryUsedBytes: number;
}

export interface ResourceReader {
  read(): Resources;
}

export interface ResourceOptions {
  /** A path on the disk that counts; it need not be there yet. */
  readonly diskPath?: string;
  /** The folder in which proc/ and sys/ are. */
  readonly root?: string;
  /** Monotonic ms. */
  readonly now?: () => number;
}

interface CpuSample {
  readonly at: number;
  readonly machine: { readonly busy: number; readonly all: number }; // any unit
  readonly levels: readonly CpuLevel[];
}

/** The kernel counts in hundredths of a second: of less time than this no share can be told. */
const CPU_MIN_MS = 100;

export function createResourceReader(options: ResourceOptions = {}): ResourceReader {
  const { diskPath = '.', root = '/', now = () => performance.now() } = options;
  const cgroup = openCgroup(root);
  let before = sample();
  let cpuPercent = 0;

  return {
    read() {
      const after = sample();
      if (after.at - before.at >= CPU_MIN_MS) {
        cpuPercent = cpuPercentBetween(before, after);
        before = after;
      }
      const memory = [readMachineMemory(root), ...cgroup.memory()].filter(({ limitBytes }) => limitBytes > 0);
      const tightest = memory.reduce((a, b) => (roomOf(b) < roomOf(a) ? b : a));
      return {
        cpuPercent,
        memoryPercent: Math.max(...memory.map((level) => percent(level.usedBytes, level.limitBytes))),
        diskPercent: readDiskPercent(resolve(diskPath)),
        load1: readLoad(root),
        cores: Math.min(availableParallelism(), ...after.levels.map(({ cores }) => cores)),
        memoryLimitBytes: tightest.limitBytes,
        memoryUsedBytes: tightest.usedBytes,
      };
    },
  };

  function sample(): CpuSample {
    return { at: now(), machine: readMachineCpu(root), levels: cgroup.cpu() };
  }
}

function cpuPercentBetween(before: CpuSample, after: CpuSample): number {
  const shares = after.levels.map(({ name, cores, usedMs }) => {
    const earlier = before.levels.find((level) => level.name === name);
    return earlier ? percent(usedMs - earlier.usedMs, (after.at - before.at) * cores) : 0;
  });
  const all = after.machine.all - before.machine.all;
  return Math.max(percent(after.machine.busy - before.machine.busy, all), ...shares);
}

/** Whole and tenths, from 0 to 100. */
function percent(part: number, whole: number): number {
  if (!(whole > 0)) return 0;
  return Math.round(Math.min(1, Math.max(0, part / whole)) * 1_000) / 10;
}

function roomOf({ limitBytes, usedBytes }: MemoryLevel): number {
  return limitBytes - usedBytes;
}

function readMachineMemory(root: string): MemoryLevel {
  const text = readText(join(root, 'proc/meminfo'));
  const bytesOf = (name: string): number | undefined => {
    const [, kib] = new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text ?? '') ?? [];
    return kib === undefined ? undefined : Number(kib) * 1_024;
  };
  const limitBytes = bytesOf('MemTotal') ?? totalmem();
  const free = bytesOf('MemAvailable');
  if (free !== undefined) return { limitBytes, usedBytes: limitBytes - free };
  // What macOS calls free is what nothing was ever put in: of memory that is merely not free nothing is known there.
  if (process.platform === 'darwin') return { limitBytes, usedBytes: process.memoryUsage.rss() };
  return { limitBytes, usedBytes: limitBytes - freemem() };
}

/** Time that others take from a virtual machine is as good as used. */
function readMachineCpu(root: string): CpuSample['machine'] {
  const [, line] = /^cpu +(.+)$/m.exec(readText(join(root, 'proc/stat')) ?? '') ?? [];
  if (line === undefined) return readCpuOfSystem();
  const ticks = line.split(' ').slice(0, 8).map(Number); // user nice system idle iowait irq softirq steal
  const all = sum(ticks);
  return { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all };
}

function readCpuOfSystem(): CpuSample['machine'] {
  const times = cpus().map((cpu) => cpu.times);
  const idle = sum(times.map((each) => each.idle));
  const busy = sum(times.map((each) => each.user + each.nice + each.sys + each.irq));
  return { busy, all: busy + idle };
}

function readLoad(root: string): number {
  const [load1] = readText(join(root, 'proc/loadavg'))?.split(' ').map(Number) ?? loadavg();
  return load1 ?? 0;
}

/** As `df` tells it: what only root may still fill does not count. */
function readDiskPercent(path: string): number {
  try {
    const { blocks, bfree, bavail } = statfsSync(path);
    return percent(blocks - bfree, blocks - bfree + bavail);
  } catch {
    const parent = dirname(path);
    return parent === path ? 0 : readDiskPercent(parent);
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // not on this system
  }
}
