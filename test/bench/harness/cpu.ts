/** What processes cost, read from /proc. Nothing to be had elsewhere: then the numbers are NaN, and tables show `-`. */
import { readdirSync, readFileSync } from 'node:fs';

const US_PER_TICK = 10_000; // /proc counts in hundredths of a second

/** CPU time of these processes and of all that they started, each once, also of children that have ended meanwhile. */
export function cpuUs(pids: readonly number[]): number {
  return sumOf(pids, (stat) => (stat.user + stat.system + stat.childUser + stat.childSystem) * US_PER_TICK);
}

export function rssMb(pids: readonly number[]): number {
  return sumOf(pids, ({ rssPages }) => (rssPages * PAGE_BYTES) / 2 ** 20);
}

/** Of the process alone, without what it has started. */
export function ownRssMb(pid: number): number {
  const stat = readStat(pid);
  return stat ? (stat.rssPages * PAGE_BYTES) / 2 ** 20 : NaN;
}

const PAGE_BYTES = 4_096;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly user: number;
  readonly system: number;
  readonly childUser: number;
  readonly childSystem: number;
  readonly rssPages: number;
}

function sumOf(pids: readonly number[], value: (stat: Stat) => number): number {
  if (pids.length === 0) return 0;
  const all = readAll();
  if (all.length === 0) return NaN;
  const wanted = new Set(pids);
  // Parents come before their children in time, not in number: look until nothing is added.
  for (let before = -1; before !== wanted.size;) {
    before = wanted.size;
    for (const { pid, parent } of all) if (wanted.has(parent)) wanted.add(pid);
  }
  return all.filter(({ pid }) => wanted.has(pid)).reduce((sum, stat) => sum + value(stat), 0);
}

function readAll(): Stat[] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((name) => readStat(Number(name)) ?? []);
}

function readStat(pid: number): Stat | undefined {
  try {
    // The name in brackets may contain anything; the numbers come after it.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(') ') + 2)
      .split(' ')
      .map(Number);
    const at = (index: number): number => fields[index] ?? 0;
    return {
      pid,
      parent: at(1),
      user: at(11),
      system: at(12),
      childUser: at(13),
      childSystem: at(14),
      rssPages: at(21),
    };
  } catch {
    return undefined; // it has ended meanwhile
  }
}
