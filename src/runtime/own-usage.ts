/** What this process uses itself. */
import { getHeapStatistics } from 'node:v8';

export interface OwnUsage {
  readonly memoryBytes: number; // resident
  /** Of one core, since the last reading; more than 100 where several threads work. */
  readonly cpuPercent: number;
}

/** Of less time than this no share can be told. */
const CPU_MIN_MS = 100;

export function createUsageReader(): { read(): OwnUsage } {
  let readAt = performance.now();
  let used = process.cpuUsage();
  let cpuPercent = 0;
  return {
    read() {
      const now = performance.now();
      if (now - readAt >= CPU_MIN_MS) {
        const { user, system } = process.cpuUsage(used); // microseconds
        cpuPercent = Math.round((user + system) / (now - readAt)) / 10;
        used = process.cpuUsage();
        readAt = now;
      }
      return { memoryBytes: process.memoryUsage.rss(), cpuPercent };
    },
  };
}

/** How much of the memory that V8 allows this process is in use; at the end of it the process dies. */
export function readHeapPercent(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return Math.round((used / limit) * 1_000) / 10;
}
