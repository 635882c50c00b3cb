/** A real Prometheus for one test: random port, temporary data, gone with the test. And promtool. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startPrometheus as start } from '../../src/local/prometheus.ts';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder, type Teardown } from './nats-server.ts';

export interface TestPrometheus {
  readonly url: string;
  readonly pid: number;
  /** One of its questions, answered: what is in `data`. */
  ask(path: string, params?: Readonly<Record<string, string>>): Promise<unknown>;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: unknown;
}

type Program = 'prometheus' | 'promtool';

/**
 * The program of this machine, or one that is fetched into the cache of the project. Where there is no way to get one the
 * test is skipped, and says so; on a machine of CI that is a failure.
 */
export function needPrometheus(t: Pick<Test, 'plan' | 'comment'>, name: Program): string | undefined {
  const { path, said } = find(name);
  if (path !== undefined) return path;
  if (process.env['CI'] !== undefined) throw new Error(`no ${name}: ${said}`);
  t.comment(said);
  t.plan(0, `no ${name} to be had`);
  return undefined;
}

/** Undefined: none is to be had. */
export function findPromtool(): string | undefined {
  return find('promtool').path;
}

function find(name: Program): { readonly path?: string; readonly said: string } {
  const script = join(projectRoot, 'config/prometheus/get-prometheus.sh');
  const { status, stdout, stderr } = spawnSync('sh', [script, name], { encoding: 'utf8' });
  if (status === 0) return { path: stdout.trim(), said: stderr };
  if (status === 1) return { said: stderr };
  throw new Error(`get-prometheus.sh ended with ${status ?? 'a signal'}: ${stderr}`);
}

export async function startPrometheus(
  t: Teardown,
  options: { readonly program: string; readonly config: string },
): Promise<TestPrometheus> {
  const prometheus = await start({ ...options, folder: temporaryFolder(t), port: 0 });
  t.teardown(() => prometheus.stop());
  return { ...prometheus, ask: (path, params) => askPrometheus(prometheus.url, path, params) };
}

export async function askPrometheus(
  url: string,
  path: string,
  params: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const response = await fetch(`${url}${path}?${new URLSearchParams(params).toString()}`);
  const { status, error, data } = (await response.json()) as Answer;
  if (status !== 'success') throw new Error(`${path} ${JSON.stringify(params)}: ${error ?? 'no reason'}`);
  return data;
}
