/**
 * Who a process is: its pid and the mark of its start. A pid alone is used again by others, so no signal leaves this
 * program for a pid whose mark is not the recorded one.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessIdentity {
  readonly pid: number;
  readonly mark: string;
}

const POLL_MS = 20;
const PS_MAX_MS = 5_000;

/** Marks of those of the pids that live; a zombie has ended and only waits to be noticed. */
export function observeMarks(pids: readonly number[]): Map<number, string> {
  const asked = [...new Set(pids)].filter((pid) => Number.isInteger(pid) && pid > 0);
  if (asked.length === 0) return new Map();
  return hasProc() ? marksFromProc(asked) : marksFromPs(asked);
}

export function identify(pid: number): ProcessIdentity | undefined {
  const mark = observeMarks([pid]).get(pid);
  return mark === undefined ? undefined : { pid, mark };
}

export function isAlive(process: ProcessIdentity): boolean {
  return observeMarks([process.pid]).get(process.pid) === process.mark;
}

/** False: that process has ended, nothing was sent. */
export function signalProcess(target: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (!isAlive(target)) return false;
  try {
    return process.kill(target.pid, signal);
  } catch {
    return false; // it ended in between, or it belongs to another user by now
  }
}

/** Waits until they have ended; those that still live at the limit come back. They are not our children: no event tells. */
export async function untilGone<T extends ProcessIdentity>(
  processes: readonly T[],
  limitMs: number,
): Promise<T[]> {
  const end = performance.now() + limitMs;
  for (;;) {
    const marks = observeMarks(processes.map(({ pid }) => pid));
    const alive = processes.filter(({ pid, mark }) => marks.get(pid) === mark);
    if (alive.length === 0 || performance.now() >= end) return alive;
    await delay(POLL_MS);
  }
}

/** The command line of a process, as one text; undefined when it has ended. */
export function commandOf(pid: number): string | undefined {
  try {
    if (hasProc()) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return ps(['-o', 'command=', '-p', String(pid)]).trim();
  } catch {
    return undefined;
  }
}

function hasProc(): boolean {
  return existsSync('/proc/self/stat');
}

function marksFromProc(pids: readonly number[]): Map<number, string> {
  // Ticks count from the start of the machine, so they repeat from one start to the next.
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const marks = new Map<number, string>();
  for (const pid of pids) {
    const ticks = startTicks(pid);
    if (ticks !== undefined) marks.set(pid, `${ticks}@${boot}`);
  }
  return marks;
}

function startTicks(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name, in brackets, may hold blanks and brackets itself; the state is the first field after it, the start the 20th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

/** Where there is no /proc (macOS); exported so that it is tested where there is one. */
export function marksFromPs(pids: readonly number[]): Map<number, string> {
  let lines: string;
  try {
    lines = ps(['-o', 'pid=,stat=,lstart=', '-p', pids.join(',')]);
  } catch {
    return new Map(); // ps ends with 1 when it finds none of them
  }
  const marks = new Map<number, string>();
  for (const line of lines.split('\n')) {
    const [, pid, stat, started] = /^\s*(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (pid && started && !stat?.startsWith('Z')) marks.set(Number(pid), started);
  }
  return marks;
}

/** One language and one time zone: the same process must read the same way from every shell. */
function ps(args: readonly string[]): string {
  return execFileSync('ps', args, {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: PS_MAX_MS,
  });
}
