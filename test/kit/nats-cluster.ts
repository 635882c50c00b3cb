/** Three nats-servers that replicate their streams, ready to; gone with the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectNats, type Connection } from '../../src/nats/connect.ts';
import { claimPorts } from './claim-ports.ts';
import { guard, natsServerPath, quietLog, temporaryFolder, type Teardown } from './nats-server.ts';

export interface TestCluster {
  readonly names: readonly string[];
  /** Of one of them; the others are found through it. */
  readonly url: string;
  /** A connection that knows all three; closed with the test. */
  connect(): Promise<Connection>;
  kill(name: string): Promise<void>;
  start(name: string): Promise<void>;
}

const NAMES = ['n1', 'n2', 'n3'] as const;

export async function startNatsCluster(t: Teardown): Promise<TestCluster> {
  const folder = temporaryFolder(t);
  const base = await claimPorts(t);
  const clientPort = (i: number): number => base + i;
  const routePort = (i: number): number => base + NAMES.length + i;
  const children = new Map<string, ChildProcess>();

  t.teardown(() => Promise.all(NAMES.map(kill)));
  await Promise.all(NAMES.map(start));
  await untilServes(await connect());
  return { names: NAMES, url: `nats://127.0.0.1:${clientPort(0)}`, connect, kill, start };

  async function start(name: string): Promise<void> {
    const i = NAMES.findIndex((one) => one === name);
    const home = join(folder, name);
    mkdirSync(home, { recursive: true });
    const file = join(home, 'server.conf');
    const routes = NAMES.map((_, other) => `nats://127.0.0.1:${routePort(other)}`);
    const text = [
      `server_name: ${name}`,
      `listen: 127.0.0.1:${clientPort(i)}`,
      `jetstream { store_dir: ${JSON.stringify(join(home, 'store'))}, max_file_store: 16G }`,
      `cluster { name: test, listen: 127.0.0.1:${routePort(i)}, routes: ${JSON.stringify(routes)} }`,
    ];
    writeFileSync(file, text.join('\n'));
    const child = spawn(natsServerPath(), ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    guard(child);
    children.set(name, child);
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`${name} ended at start`)));
      child.stderr.setEncoding('utf8').on('data', (said: string) => {
        if (said.includes('Server is ready')) resolve();
      });
    });
  }

  async function kill(name: string): Promise<void> {
    const child = children.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async function connect(): Promise<Connection> {
    const url = NAMES.map((_, i) => `nats://127.0.0.1:${clientPort(i)}`);
    const connection = await connectNats({
      access: { url },
      name: 'test',
      log: quietLog,
      whenUnreachable: 'wait',
    });
    t.teardown(() => connection.close());
    return connection;
  }
}

/** A young cluster has no leader for a while, and says so in several ways. */
async function untilServes({ jsm }: Connection): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await jsm.streams.add({ name: 'PROBE', subjects: ['probe'], num_replicas: 3 });
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await delay(100);
    }
  }
}
