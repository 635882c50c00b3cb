/** Measuring and printing, for all benches. */
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type as system } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../src/project-root.ts';

export interface Sample {
  readonly count: number;
  readonly ms: number;
  readonly clientCpuUs: number;
  /** Undefined where there is no /proc. */
  readonly serverCpuUs: number | undefined;
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly natsJs: string;
  /** Others at work make the numbers worse. */
  readonly loadAverage: string;
}

const US_PER_TICK = 10_000; // /proc counts in hundredths of a second

/** Runs `work`, which handles `count` items, and reads the clocks of this process and of the server. */
export async function measure(serverPid: number, count: number, work: () => Promise<void>): Promise<Sample> {
  const serverBefore = processCpuUs(serverPid);
  const clientBefore = process.cpuUsage();
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  const { user, system: kernel } = process.cpuUsage(clientBefore);
  const serverAfter = processCpuUs(serverPid);
  const serverCpuUs =
    serverBefore === undefined || serverAfter === undefined ? undefined : serverAfter - serverBefore;
  return { count, ms, clientCpuUs: user + kernel, serverCpuUs };
}

function processCpuUs(pid: number): number | undefined {
  try {
    // The name in brackets may contain anything; the numbers come after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * US_PER_TICK;
  } catch {
    return undefined;
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

export function describeMachine(): Machine {
  const [first] = cpus();
  const client = readFileSync(join(projectRoot, 'node_modules/@nats-io/transport-node/package.json'), 'utf8');
  return {
    cpu: first?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${system()} ${release()}`,
    node: process.version,
    natsJs: (JSON.parse(client) as { version: string }).version,
    loadAverage: readLoadAverage(),
  };
}

function readLoadAverage(): string {
  try {
    return readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' ');
  } catch {
    return 'unknown';
  }
}

/** Columns of equal width: the first to the left, numbers to the right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}
