/** A real PostgreSQL for one test: random port, temporary data, gone with the test. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import postgres from 'postgres';
import { projectRoot } from '../../src/project-root.ts';
import { claimPorts } from './claim-ports.ts';
import { guard, temporaryFolder, type Teardown } from './nats-server.ts';

export interface TestPostgres {
  readonly url: string;
  readonly sql: postgres.Sql;
  pid(): number;
  kill(signal: 'SIGINT' | 'SIGKILL'): Promise<void>;
  /** The same port and data again. */
  start(): Promise<void>;
}

/** The server refuses to be run by root; then it is run by nobody. */
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const AS = IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {};
const NO_WAY = 3;

/** Undefined: there is none here, and no way to get one. */
export function findPostgres(): string | undefined {
  const found = spawnSync('/bin/sh', [join(projectRoot, 'test/get-postgres.sh')], { encoding: 'utf8' });
  if (found.status === 0) return found.stdout.trim();
  if (found.status === NO_WAY) return undefined;
  throw new Error(`test/get-postgres.sh ended with ${found.status ?? 'a signal'}: ${found.stderr}`);
}

/** A test does not need its data after a power cut, nor much memory. */
const TEST_SETTINGS = ['fsync=off', 'shared_buffers=16MB', 'max_connections=20'];

export async function startPostgres(
  t: Teardown,
  found: string,
  own: readonly string[] = TEST_SETTINGS,
): Promise<TestPostgres> {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const programs = reachable(found, folder);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (IS_ROOT) chownSync(data, NOBODY, NOBODY);
  const words = ['-D', data, '-U', 'trawl', '-A', 'trust', '-N', '-E', 'UTF8', '--no-locale'];
  const env = { PATH: process.env['PATH'] ?? '', TZ: 'GMT' };
  const made = spawnSync(join(programs, 'initdb'), words, { ...AS, env, cwd: folder, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb: ${made.stdout}${made.stderr}`);
  const port = await claimPorts(t);
  const url = `postgres://trawl@127.0.0.1:${port}/postgres`;
  const sql = postgres(url, { max: 2, onnotice: () => undefined });
  t.teardown(() => sql.end({ timeout: 1 }));
  let child: ChildProcess | undefined;

  const kill: TestPostgres['kill'] = async (signal) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  const start = async (): Promise<void> => {
    const settings = ['timezone=GMT', 'log_timezone=GMT', ...own];
    child = spawn(
      join(programs, 'postgres'),
      [
        ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', ''],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...AS, env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    guard(child);
    await untilReady(child);
  };
  t.teardown(() => kill('SIGINT'));
  await start();
  return { url, sql, pid: () => child?.pid ?? 0, kill, start };
}

/** Nobody may not be allowed into the folder of the project: then the programs are taken to where they can be reached. */
function reachable(programs: string, folder: string): string {
  const tried = spawnSync(join(programs, 'postgres'), ['--version'], { ...AS, cwd: '/' });
  if (tried.status === 0) return programs;
  const copy = join(folder, 'postgres');
  cpSync(dirname(programs), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

async function untilReady(child: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`postgres ended at start:\n${said}`)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-10_000);
      if (said.includes('database system is ready to accept connections')) resolve();
    });
  });
}
