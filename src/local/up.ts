/** `trawl up`: one cluster per home, however often it is asked for. */
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { askSupervisor } from './ask-supervisor.ts';
import { sweepHome } from './down.ts';
import { findNatsServer } from './find-nats-server.ts';
import { openHome } from './home.ts';
import { launchSupervisor } from './launch-supervisor.ts';
import { planPorts, type Layout } from './layout.ts';
import type { ClusterPlan } from './plan.ts';
import type { Report } from './progress.ts';
import type { ClusterState } from './state.ts';

export interface UpOptions extends Omit<ClusterPlan, 'natsServer' | 'startMaxMs' | 'configHome'> {
  readonly configHome: string;
  /** Program and arguments of the process that calls `runSupervisor`. */
  readonly supervisorCommand: readonly string[];
  /** Default: found or fetched by nats/get-nats-server.sh. */
  readonly natsServer?: string;
  /** From the first process to the last one that serves; fetching a nats-server does not count. */
  readonly startMaxMs?: number;
}

/** A setting in which the cluster that runs differs from the one that was asked for. */
export interface Difference {
  readonly name: string;
  readonly running: string | undefined;
  readonly requested: string | undefined;
}

export type UpResult =
  | { readonly outcome: 'started'; readonly cluster: ClusterState }
  | {
      readonly outcome: 'already-up';
      readonly cluster: ClusterState;
      readonly differences: readonly Difference[];
    };

const START_MAX_MS = 30_000;
const RETRY_MS = 50;

/** Resolves when every process serves. When it throws, nothing of what it started runs any more. */
export async function bringUp(options: UpOptions, report: Report): Promise<UpResult> {
  const { supervisorCommand: command, ...asked } = options;
  const startMaxMs = options.startMaxMs ?? START_MAX_MS;
  planPorts(options); // says at once what cannot be
  const layout = openHome(options.home);
  let natsServer = options.natsServer;
  let end = performance.now() + startMaxMs;
  for (;;) {
    const running = await joinRunning(layout, end - performance.now(), report);
    if (running) {
      return {
        outcome: 'already-up',
        cluster: running,
        differences: compareSettings(running.settings, options.settings),
      };
    }
    if (natsServer === undefined) {
      natsServer = await findNatsServer(report);
      end = performance.now() + startMaxMs;
    }
    const plan = { ...asked, home: layout.home, natsServer, startMaxMs };
    const launched = await launchSupervisor({ command, plan, layout, report });
    if (launched.kind === 'up') return { outcome: 'started', cluster: launched.state };
    if (launched.kind === 'vanished') {
      await sweepHome(layout, report);
      throw launched.failure;
    }
    if (performance.now() > end) throw explainBusy(layout, launched);
    await delay(RETRY_MS); // its holder is about to listen, or to end: neither sends an event to strangers
  }
}

/** The cluster that runs here, once it has started; undefined when there is none. */
async function joinRunning(
  layout: Layout,
  limitMs: number,
  report: Report,
): Promise<ClusterState | undefined> {
  const end = performance.now() + limitMs;
  for (let waited = false; ; waited = true) {
    const asked = await askSupervisor(layout.socket, 'ready', { limitMs: end - performance.now(), report });
    switch (asked.kind) {
      case 'nobody':
      case 'lost':
        return undefined;
      case 'failed':
        throw new Failure(
          asked.failure.code,
          `another \`trawl up\` did not succeed: ${asked.failure.message}`,
          {
            ...(asked.failure.hint === undefined ? {} : { hint: asked.failure.hint }),
          },
        );
      case 'silent':
        throw new Failure('TIMEOUT', `the supervisor of ${layout.home} does not answer`, {
          hint: 'End it with `trawl down`, then start again.',
        });
      case 'answered':
        if (asked.state.phase === 'up') return asked.state;
    }
    if (performance.now() > end) throw explainBusy(layout, { pid: asked.state.supervisor.pid, role: 'down' });
    if (!waited) report({ step: 'waiting', text: 'the last cluster is still stopping' });
    await delay(RETRY_MS);
  }
}

export function compareSettings(
  running: Readonly<Record<string, string>>,
  requested: Readonly<Record<string, string>>,
): Difference[] {
  const names = [...new Set([...Object.keys(running), ...Object.keys(requested)])].sort();
  return names
    .map((name) => ({ name, running: running[name], requested: requested[name] }))
    .filter((pair) => pair.running !== pair.requested);
}

function explainBusy(layout: Layout, { pid, role }: { pid: number; role: string }): Failure {
  return new Failure('CONFLICT', `another process works on ${layout.home}: ${role} (pid ${pid})`, {
    hint: 'Wait for it, or end what it left with `trawl down`.',
  });
}
