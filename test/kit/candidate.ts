/** Starts candidates for a lock as processes of their own, to be killed, stopped and woken. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Teardown, TestServer } from './nats-server.ts';

export interface Candidate {
  readonly owner: string;
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void;
  /** The next line about this event that was not waited for before. */
  said(event: string): Promise<Record<string, unknown>>;
  readonly exited: Promise<number | null>;
}

export function startCandidate(
  t: Teardown,
  server: TestServer,
  options: { name: string; ttlMs: number; owner: string },
): Candidate {
  const program = join(import.meta.dirname, 'candidate-process.js');
  const { name, ttlMs, owner } = options;
  const child = spawn(process.execPath, [program, server.url, name, String(ttlMs), owner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Record<string, unknown>[] = [];
  let look = (): void => undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
    look();
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return {
    owner,
    signal: (signal) => void child.kill(signal),
    exited,
    said: (event) =>
      new Promise((resolve) => {
        look = () => {
          const at = lines.findIndex((line) => line['event'] === event);
          const [line] = at < 0 ? [] : lines.splice(at, 1);
          if (line) resolve(line);
        };
        look();
      }),
  };
}
