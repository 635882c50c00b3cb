/** A real nats-server for one test: random port, temporary store, gone with the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectNats, type Connection } from '../../src/nats/connect.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { projectRoot } from '../../src/project-root.ts';
import { claimPorts } from './claim-ports.ts';

/** What a test of tap gives us, and all that we need of it. */
export interface Teardown {
  teardown(undo: () => unknown): void;
}

export interface ServerOptions {
  /** Extra lines of server configuration. */
  readonly config?: string;
  /** `always` makes an ack mean fsync; `second` syncs once a second, as Redis does; `interval` is the server's own. */
  readonly sync?: 'always' | 'second' | 'interval';
  /** Off for a server that only passes messages on. */
  readonly jetstream?: boolean;
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly monitorUrl: string;
  pid(): number;
  /** Ends the process and waits for it. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** The same port and store again. */
  start(): Promise<void>;
  /** A connection that is closed with the test. */
  connect(name?: string): Promise<Connection>;
}

export const quietLog = createLog({ level: 'error', format: 'json', write: () => undefined });

export function natsServerPath(): string {
  const path = process.env['NATS_SERVER'] ?? join(projectRoot, '.cache/tools/nats-server');
  if (!existsSync(path)) throw new Error(`no nats-server at ${path}: run \`make setup\``);
  return path;
}

export function temporaryFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'trawl-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export async function startNatsServer(t: Teardown, options: ServerOptions = {}): Promise<TestServer> {
  const folder = temporaryFolder(t);
  const name = `test-${folder.slice(-6)}`;
  const port = await claimPorts(t);
  const monitorPort = port + 1;
  let child: ChildProcess | undefined;

  const server: TestServer = {
    url: `nats://127.0.0.1:${port}`,
    port,
    monitorUrl: `http://127.0.0.1:${monitorPort}`,
    pid: () => child?.pid ?? 0,
    async kill(signal) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
    signal: (signal) => void child?.kill(signal),
    start,
    async connect(clientName = 'test') {
      const connection = await connectNats({
        access: { url: [server.url] },
        name: clientName,
        log: quietLog,
        whenUnreachable: 'wait',
      });
      t.teardown(() => connection.close());
      return connection;
    },
  };
  t.teardown(async () => {
    child?.kill('SIGCONT');
    await server.kill('SIGKILL');
  });
  await start();
  return server;

  async function start(): Promise<void> {
    const file = join(folder, 'server.conf');
    writeFileSync(file, configText());
    child = spawn(natsServerPath(), ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    guard(child);
    await untilReady(child);
  }

  function configText(): string {
    return [
      `server_name: ${name}`,
      `listen: 127.0.0.1:${port}`,
      `http: 127.0.0.1:${monitorPort}`,
      options.jetstream === false ? '' : jetstreamText(),
      options.config ?? '',
    ].join('\n');
  }

  function jetstreamText(): string {
    const sync = { always: 'sync_interval: always', second: 'sync_interval: "1s"', interval: '' }[
      options.sync ?? 'interval'
    ];
    return `jetstream { store_dir: ${JSON.stringify(join(folder, 'store'))}, max_file_store: 16G, ${sync} }`;
  }
}

/**
 * Ends a process when this one dies without a teardown (a timeout of the test runner is a SIGKILL): the guard reads
 * from a pipe that closes then. Once the process has ended the guard stands down: its pid may become somebody else's.
 */
export function guard(child: ChildProcess): void {
  const watcher = spawn('/bin/sh', ['-c', `read -r _ || kill -9 ${child.pid ?? 0}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  child.once('exit', () => watcher.stdin.end('done\n'));
}

/** Waits for the line that the server prints when it serves. */
async function untilReady(child: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`nats-server ended at start:\n${said}`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (said.includes('Server is ready')) return; // the rest is only read so that the pipe does not fill
      said += text;
      if (said.includes('Server is ready')) resolve();
    });
  });
}
