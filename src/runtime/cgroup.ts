/**
 * The limits that the kernel sets to this process together with others: control groups of version 2, of version 1, or
 * a mix of both. A group lies within others, and each of them may have a limit, so all of them are looked at. In a
 * container the path of the group is often one of the host, and what is mounted is the group itself: the folders that
 * are not there are passed over.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface MemoryLevel {
  readonly limitBytes: number;
  /** Without the files in memory that can be dropped at once. */
  readonly usedBytes: number;
}

export interface CpuLevel {
  /** Names it from one reading to the next. */
  readonly name: string;
  /** How many cores' worth of time it may use. */
  readonly cores: number;
  /** Since the group was made. */
  readonly usedMs: number;
}

export interface Cgroup {
  /** Only levels with a limit. */
  memory(): readonly MemoryLevel[];
  cpu(): readonly CpuLevel[];
}

const MOUNT = 'sys/fs/cgroup';

/** `root` is the folder in which proc/ and sys/ are. */
export function openCgroup(root: string): Cgroup {
  const paths = readPaths(join(root, 'proc/self/cgroup'));
  const folders = (controller: string, limitFile: string): string[] =>
    foldersOf(root, { mount: join(MOUNT, controller), path: paths.get(controller) }, limitFile);
  const unified = (limitFile: string): string[] =>
    foldersOf(root, { mount: MOUNT, path: paths.get('') }, limitFile);

  const memory1 = folders('memory', 'memory.limit_in_bytes');
  const memory2 = memory1.length > 0 ? [] : unified('memory.max');
  const cpu1 = folders('cpu', 'cpu.cfs_quota_us');
  const cpu2 = cpu1.length > 0 ? [] : unified('cpu.max');
  const accounts = join(root, MOUNT, 'cpuacct');
  const cpuMount = join(root, MOUNT, 'cpu');
  return {
    memory: () => [...memory1.flatMap(readMemory1), ...memory2.flatMap(readMemory2)],
    cpu: () => [
      ...cpu1.flatMap((folder) => readCpu1(folder, join(accounts, folder.slice(cpuMount.length)))),
      ...cpu2.flatMap(readCpu2),
    ],
  };
}

/** Controller → path of the group of this process; that of version 2 has no controller to its name. */
function readPaths(file: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of (readText(file) ?? '').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    for (const controller of controllers?.split(',') ?? []) paths.set(controller, path);
  }
  return paths;
}

/** From the group of this process up to the top of what is mounted. */
function foldersOf(
  root: string,
  { mount, path }: { readonly mount: string; readonly path: string | undefined },
  limitFile: string,
): string[] {
  if (path === undefined) return [];
  const folders: string[] = [];
  for (let at = posix.normalize(`/${path}`); ; at = posix.dirname(at)) {
    const folder = join(root, mount, at === '/' ? '' : at);
    if (existsSync(join(folder, limitFile))) folders.push(folder);
    if (at === '/') return folders;
  }
}

function readMemory2(folder: string): MemoryLevel[] {
  const limitBytes = readNumber(join(folder, 'memory.max'));
  if (limitBytes === undefined) return []; // "max"
  const usage = readNumber(join(folder, 'memory.current')) ?? 0;
  const droppable = readMember(join(folder, 'memory.stat'), 'inactive_file');
  return [{ limitBytes, usedBytes: Math.max(0, usage - droppable) }];
}

function readMemory1(folder: string): MemoryLevel[] {
  const limitBytes = readNumber(join(folder, 'memory.limit_in_bytes'));
  // "No limit" is a number here: the largest one that fits, whole pages.
  if (limitBytes === undefined || limitBytes > Number.MAX_SAFE_INTEGER) return [];
  const usage = readNumber(join(folder, 'memory.usage_in_bytes')) ?? 0;
  const droppable = readMember(join(folder, 'memory.stat'), 'total_inactive_file');
  return [{ limitBytes, usedBytes: Math.max(0, usage - droppable) }];
}

function readCpu2(folder: string): CpuLevel[] {
  const [quota, period] = (readText(join(folder, 'cpu.max')) ?? '').trim().split(' ').map(Number);
  if (!isAmount(quota) || !isAmount(period)) return []; // "max 100000"
  const usedMs = readMember(join(folder, 'cpu.stat'), 'usage_usec') / 1e3;
  return [{ name: folder, cores: quota / period, usedMs }];
}

function readCpu1(folder: string, account: string): CpuLevel[] {
  const quota = readNumber(join(folder, 'cpu.cfs_quota_us'));
  const period = readNumber(join(folder, 'cpu.cfs_period_us'));
  if (!isAmount(quota) || !isAmount(period)) return []; // -1
  const usedMs = (readNumber(join(account, 'cpuacct.usage')) ?? 0) / 1e6;
  return [{ name: folder, cores: quota / period, usedMs }];
}

function isAmount(value: number | undefined): value is number {
  return value !== undefined && value > 0 && Number.isFinite(value);
}

function readNumber(file: string): number | undefined {
  const text = readText(file)?.trim();
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}

/** Of a file of lines "name value". */
function readMember(file: string, name: string): number {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(readText(file) ?? '');
  return Number(found?.[1] ?? 0);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // not on this system
  }
}
