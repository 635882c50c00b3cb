/** A real Redis for one bench: random port, temporary data, the append-only file synced every second. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../../src/project-root.ts';
import { claimPorts } from '../../kit/claim-ports.ts';
import { guard, temporaryFolder, type Teardown } from '../../kit/nats-server.ts';

export interface Redis {
  readonly port: number;
  readonly pid: number;
  readonly version: string;
}

/** Undefined: there is none here, and no way to get one. */
export function findRedis(): string | undefined {
  if (process.env['PEERS'] === 'no') return undefined;
  const found = spawnSync('/bin/sh', [join(projectRoot, 'test/bench/get-redis.sh')], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

export async function startRedis(t: Teardown, program: string): Promise<Redis> {
  const folder = temporaryFolder(t);
  const port = await claimPorts(t);
  const words = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
    ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
  ];
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  guard(child);
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`redis-server ended at start:\n${said}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-10_000);
      if (said.includes('Ready to accept connections')) resolve();
    });
  });
  const version = /Redis version=([\d.]+)/.exec(said)?.[1] ?? 'unknown';
  return { port, pid: child.pid ?? 0, version };
}
