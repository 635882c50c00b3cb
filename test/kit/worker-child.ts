/** Starts workers as processes of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { guard, type Teardown, type TestServer } from './nats-server.ts';

export interface WorkerChild {
  readonly pid: number;
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2'): void;
  /** The next line about this event that was not waited for before. */
  said(event: string): Promise<Record<string, unknown>>;
  readonly exited: Promise<void>;
}

export function startWorkerChild(
  t: Teardown,
  server: TestServer,
  options: { worker: string; leaseMs: number; concurrency?: number },
): WorkerChild {
  const program = join(import.meta.dirname, 'worker-process.js');
  const args = [program, server.url, options.worker, options.leaseMs, options.concurrency ?? 10].map(String);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  guard(child);
  const lines: Record<string, unknown>[] = [];
  const looks = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
    for (const look of looks) look();
  });
  const exited = once(child, 'exit').then(() => undefined);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return {
    pid: child.pid ?? 0,
    signal: (signal) => void child.kill(signal),
    exited,
    said: (event) =>
      new Promise((resolve) => {
        const look = (): void => {
          const at = lines.findIndex((line) => line['event'] === event);
          const [line] = at < 0 ? [] : lines.splice(at, 1);
          if (!line) return;
          looks.delete(look);
          resolve(line);
        };
        looks.add(look);
        look();
      }),
  };
}
