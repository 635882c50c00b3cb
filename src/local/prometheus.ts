/** A Prometheus beside a cluster: its configuration made from the one we ship, one process, data in a folder of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { projectRoot } from '../project-root.ts';
import { findProgram } from './find-program.ts';
import { findBusyPorts } from './ports.ts';
import type { Report } from './progress.ts';

export const PROMETHEUS_CONFIG = join(projectRoot, 'config/prometheus/prometheus.yml');

const START_MAX_MS = 60_000;
/** It writes what it has in memory to its log before it ends. */
const STOP_MAX_MS = 30_000;
const SAID_MAX_BYTES = 20_000;

export interface PrometheusOptions {
  readonly program: string;
  /** Text of its configuration. */
  readonly config: string;
  /** Folder for that, and for its data. */
  readonly folder: string;
  /** On loopback; 0: any free one. */
  readonly port: number;
}

export interface Prometheus {
  readonly url: string;
  readonly pid: number;
  /** Resolves when it ends by itself or by `stop`, with the end of what it said. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export function findPrometheus(
  report: Report,
  script = join(projectRoot, 'config/prometheus/get-prometheus.sh'),
): Promise<string> {
  const hint = 'Put a prometheus of 2.42 or newer on the PATH, or name it with PROMETHEUS.';
  return findProgram({ name: 'prometheus', script, hint, code: 'REJECTED' }, report);
}

/** The configuration that we ship, for the exporter at `exporter` (host:port); its rules are found from anywhere. */
export function localConfig(exporter: string, file = PROMETHEUS_CONFIG): string {
  const rules = dirname(file);
  return readFileSync(file, 'utf8')
    .replaceAll('127.0.0.1:8080', exporter)
    .replaceAll(
      /^( +- )(\w+\.yml)$/gm,
      (_, dash: string, name: string) => `${dash}${JSON.stringify(join(rules, name))}`,
    );
}

export async function refuseBusyPort(port: number): Promise<void> {
  const [busy] = await findBusyPorts([port]);
  if (busy)
    throw new Failure('CONFLICT', `port ${port} is taken by ${busy.who}`, {
      hint: `Is a Prometheus of this cluster running already? Stop it, or choose another port: --port ${port + 1}`,
    });
}

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  mkdirSync(options.folder, { recursive: true });
  const file = join(options.folder, 'prometheus.yml');
  writeFileSync(file, options.config);
  const child = spawn(
    options.program,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(options.folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${options.port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  const ended = once(child, 'close').then(() => said);
  const stop = async (): Promise<void> => {
    const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(limit);
  };
  const ready = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-SAID_MAX_BYTES);
      if (said.includes('Server is ready to receive web requests')) resolve();
    });
    void ended.then(() => reject(new Error('it has ended')), reject);
    setTimeout(() => reject(new Error(`not ready after ${START_MAX_MS / 1e3} s`)), START_MAX_MS).unref();
  });
  try {
    await ready;
  } catch (cause) {
    await stop().catch(() => undefined);
    throw new Failure('INTERNAL', `Prometheus did not start: ${lastErrors(said) || String(cause)}`, {
      cause,
    });
  }
  const port = /msg="Listening on" .*address=[\d.]+:(\d+)/.exec(said)?.[1] ?? String(options.port);
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, ended, stop };
}

/** Its last error, or its last line, from what it said. */
export function lastErrors(said: string): string {
  const lines = said.trim().split('\n');
  const errors = lines.filter((line) => /level=error/i.test(line));
  return (errors.at(-1) ?? lines.at(-1) ?? '').replace(/^time=\S+ |^ts=\S+ /, '');
}
