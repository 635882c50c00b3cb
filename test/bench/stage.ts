/** What the benches of the task path have in common: a server with its streams, and actors as processes of their own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Role } from '../../src/domain/role.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { projectRoot } from '../../src/project-root.ts';
import { startNatsServer, temporaryFolder, type TestServer } from '../kit/nats-server.ts';

export interface Stage {
  readonly server: TestServer;
  readonly connection: Connection;
  /** A folder for this bench alone: scrapers that are put there are the workers'. */
  readonly home: string;
  readonly startActor: (role: Role) => ChildProcess;
}

const WAIT_MAX_MS = 300_000;
const LOOK_MS = 50;

/** Takes down all that it has set up when `use` is over, whichever way. */
export async function withStage(use: (stage: Stage) => Promise<void>): Promise<void> {
  const undos: (() => unknown)[] = [];
  const lifetime = { teardown: (undo: () => unknown) => void undos.unshift(undo) };
  try {
    const server = await startNatsServer(lifetime);
    const connection = await server.connect();
    const { config } = loadConfig({ flags: {}, env: {}, cwd: '/' });
    await applyTopology(connection, planCluster(config), { onDrift: 'update' });
    const home = temporaryFolder(lifetime);
    await use({ server, connection, home, startActor });

    function startActor(role: Role): ChildProcess {
      const env = {
        PATH: process.env['PATH'],
        NATS_URL: server.url,
        TRAWL_HOME: home,
        TRAWL_WORKER_SCRAPERS: home,
        TRAWL_LOG_LEVEL: 'error',
      };
      const args = [`${projectRoot}/dist/src/cli/main.js`, role, '--id', `bench-${role}`];
      const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'ignore', 'inherit'] });
      lifetime.teardown(() => child.kill('SIGKILL'));
      return child;
    }
  } finally {
    for (const undo of undos) await undo();
  }
}

export async function untilTrue(look: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + WAIT_MAX_MS;
  while (!(await look())) {
    if (Date.now() > until) throw new Error('it takes too long');
    await delay(LOOK_MS);
  }
}

export function rssMbOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) / 1_024);
}

/** How the memory of a process went, in MB: when the watch began, after a quarter and a half of it, at its end. */
export interface MemoryCourse {
  readonly start: number;
  readonly quarter: number;
  readonly half: number;
  readonly end: number;
  readonly most: number;
}

const SAMPLE_MS = 100;

/** The answer ends the watch. */
export function watchMemory(pid: number): () => MemoryCourse {
  const samples = [rssMbOf(pid)];
  const timer = setInterval(() => void samples.push(rssMbOf(pid)), SAMPLE_MS);
  return () => {
    clearInterval(timer);
    samples.push(rssMbOf(pid));
    const at = (part: number): number => samples[Math.floor((samples.length - 1) * part)] ?? NaN;
    return { start: at(0), quarter: at(0.25), half: at(0.5), end: at(1), most: Math.max(...samples) };
  };
}
