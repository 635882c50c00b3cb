/** What the benches of the task path have in common: a server with its streams, and actors as processes of their own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { planCluster } from '../../src/cluster/topology.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Role } from '../../src/domain/role.ts';
import { applyTopology } from '../../src/nats/apply-topology.ts';
import type { Connection } from '../../src/nats/connect.ts';
import { program } from '../../src/program.ts';
import {
  guard,
  startNatsServer,
  temporaryFolder,
  type ServerOptions,
  type Teardown,
  type TestServer,
} from '../kit/nats-server.ts';

export interface Stage {
  readonly server: TestServer;
  readonly connection: Connection;
  /** A folder for this bench alone: scrapers that are put there are the workers'. */
  readonly home: string;
  /** The environment of its actors. */
  readonly env: Readonly<Record<string, string>>;
  /** The actors' processes. */
  readonly pids: () => number[];
  readonly startActor: (role: Role, options?: ActorOptions) => ChildProcess;
}

export interface ActorOptions {
  readonly id?: string;
  /** Words for node itself, such as --cpu-prof. */
  readonly node?: readonly string[];
}

export interface StageOptions {
  readonly sync?: ServerOptions['sync'];
  /** Settings of the actors beside where NATS and the scrapers are. */
  readonly settings?: Readonly<Record<string, string>>;
}

const WAIT_MAX_MS = 300_000;
const LOOK_MS = 50;

export async function openStage(
  t: Teardown,
  { sync = 'interval', settings = {} }: StageOptions = {},
): Promise<Stage> {
  const server = await startNatsServer(t, { sync });
  const connection = await server.connect();
  const { config } = loadConfig({ flags: {}, env: {}, cwd: '/' });
  await applyTopology(connection, planCluster(config), { onDrift: 'update' });
  const home = temporaryFolder(t);
  const actors: ChildProcess[] = [];
  const env = {
    NATS_URL: server.url,
    TRAWL_HOME: home,
    TRAWL_WORKER_SCRAPERS: home,
    TRAWL_LOG_LEVEL: 'error',
    ...settings,
  };
  return { server, connection, home, env, startActor, pids: () => actors.map(({ pid }) => pid ?? 0) };

  function startActor(
    role: Role,
    { id = `bench-${role}`, node = profiling(role) }: ActorOptions = {},
  ): ChildProcess {
    const args = [...node, program.main, role, '--id', id];
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      cwd: home,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    guard(child);
    actors.push(child);
    t.teardown(() => endActor(child));
    return child;
  }
}

/** PROFILE=folder: a CPU profile of each actor is put there when it ends. */
function profiling(role: Role): readonly string[] {
  const folder = process.env['PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}/${role}`];
}

async function endActor(child: ChildProcess): Promise<void> {
  if (process.env['PROFILE'] !== undefined && child.exitCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await Promise.race([gone, delay(15_000)]);
  }
  child.kill('SIGKILL');
}

/** Takes down all that was set up when `use` is over, whichever way. */
export async function withTeardown(use: (t: Teardown) => Promise<void>): Promise<void> {
  const undos: (() => unknown)[] = [];
  try {
    await use({ teardown: (undo) => void undos.unshift(undo) });
  } finally {
    // An undo may start something that has to be undone too.
    for (let undo = undos.shift(); undo; undo = undos.shift()) await undo();
  }
}

export async function untilTrue(look: () => Promise<boolean>, lookMs = LOOK_MS): Promise<void> {
  const until = Date.now() + WAIT_MAX_MS;
  while (!(await look())) {
    if (Date.now() > until) throw new Error('it takes too long');
    await delay(lookMs);
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
