/** The built program as a child process, in a home and on ports of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { program } from '../../src/program.ts';
import { claimPorts } from './claim-ports.ts';
import { guard, natsServerPath, temporaryFolder, type Teardown } from './nats-server.ts';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly home: string;
  readonly portBase: number;
  readonly configHome: string;
  /** Runs a command to its end. */
  run(...words: string[]): Promise<Finished>;
  /** Runs a command that is expected to succeed, and returns its JSON. */
  json<T>(...words: string[]): Promise<T>;
  /** Starts a command that goes on. */
  start(...words: string[]): ChildProcess;
  readonly env: Readonly<Record<string, string>>;
}

/** Whatever the test starts with it is stopped and removed with the test. */
export async function installTrawl(
  t: Teardown,
  settings: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const folder = temporaryFolder(t);
  const home = join(folder, 'home');
  const configHome = join(folder, 'config');
  const portBase = await claimPorts(t);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: configHome,
    NATS_SERVER: natsServerPath(),
    TRAWL_HOME: home,
    TRAWL_LOCAL_PORT_BASE: String(portBase),
    ...settings,
  };
  const start = (...words: string[]): ChildProcess => {
    const child = spawn(process.execPath, [program.main, ...words], {
      env,
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    guard(child);
    t.teardown(() => void child.kill('SIGKILL'));
    return child;
  };
  const run = async (...words: string[]): Promise<Finished> => {
    const child = start(...words);
    if (!child.stdout || !child.stderr) throw new Error('no pipes');
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close') as Promise<[number | null]>,
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code, stdout, stderr };
  };
  const json = async <T>(...words: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run(...words, '--json');
    if (code !== 0)
      throw new Error(`trawl ${words.join(' ')} ended with ${code ?? 'a signal'}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as T;
  };
  t.teardown(() => run('down', '--clean'));
  return { home, portBase, configHome, run, json, start, env };
}
