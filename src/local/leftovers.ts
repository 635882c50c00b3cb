/** What a crash left behind: found safely, and stopped in order. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { judgeCluster, type ProcessRecord, type Verdict } from '../policy/half-dead.ts';
import { planStopOrder } from '../policy/stop-order.ts';
import { nodePaths, type Layout } from './layout.ts';
import { commandOf, identify, observeMarks, signalProcess, untilGone } from './process-identity.ts';
import type { Report } from './progress.ts';
import { readClusterState, recordsOf, type ClusterState } from './state.ts';

export interface Inspection {
  readonly state: ClusterState | undefined;
  readonly verdict: Verdict;
}

export const NATS_STOP_MAX_MS = 10_000;
const KILL_MAX_MS = 5_000;
/** At the end of its grace an actor aborts its work and gives it back; that takes a moment too. */
const ABORT_MAX_MS = 3_000;

/** How long an actor may take to end, by the grace it gives itself. */
export function actorStopMs(stopGraceMs: number): number {
  return stopGraceMs + ABORT_MAX_MS;
}

/** `answers`: the supervisor was asked and answered. */
export function inspectHome(layout: Layout, { answers }: { answers: boolean }): Inspection {
  const state = readClusterState(layout.state);
  const recorded = recordsOf(state);
  const known = new Set(recorded.map(({ pid }) => pid));
  const children = [...recorded, ...serversByPidFile(layout).filter(({ pid }) => !known.has(pid))];
  // The supervisor of a stopped cluster has ended, whoever has its pid now.
  const supervisor =
    state && state.phase !== 'stopped'
      ? { name: 'supervisor', role: 'supervisor', ...state.supervisor }
      : undefined;
  const marks = observeMarks([...children, ...(supervisor ? [supervisor] : [])].map(({ pid }) => pid));
  const verdict = judgeCluster({ answers, recordedPhase: state?.phase, supervisor, children, marks });
  return { state, verdict };
}

/**
 * Servers that started in the instant before their supervisor died, too late to be recorded. A pid file alone proves
 * nothing; a process that runs with our own configuration file is ours.
 */
function serversByPidFile(layout: Layout): ProcessRecord[] {
  return pidFiles(layout).flatMap((number) => {
    const { name, pidFile, config } = nodePaths(layout, number);
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
    if (!(pid > 0) || !commandOf(pid)?.includes(config)) return [];
    const identity = identify(pid);
    return identity ? [{ name, role: 'nats', ...identity }] : [];
  });
}

function pidFiles({ home }: Layout): number[] {
  return readdirSync(home).flatMap((name) => {
    const number = /^nats-(\d+)\.pid$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

export async function stopLeftovers(
  leftovers: readonly ProcessRecord[],
  { graceMs, report }: { graceMs: number; report: Report },
): Promise<void> {
  for (const group of planStopOrder(leftovers)) {
    report({
      step: 'cleaning',
      text: `stopping ${group.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ')}`,
    });
    for (const process of group) signalProcess(process, 'SIGTERM');
    const stubborn = await untilGone(
      group,
      group[0]?.role === 'nats' ? NATS_STOP_MAX_MS : actorStopMs(graceMs),
    );
    for (const process of stubborn) {
      report({ step: 'cleaning', text: `${process.name} did not end in time and is killed` });
      signalProcess(process, 'SIGKILL');
    }
    refuseImmortal(await untilGone(stubborn, KILL_MAX_MS));
  }
}

export function refuseImmortal(alive: readonly ProcessRecord[]): void {
  if (alive.length === 0) return;
  const who = alive.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ');
  throw new Failure('INTERNAL', `could not be stopped: ${who}`, {
    hint: 'Look at these processes with ps; they hang in the kernel or belong to another user.',
  });
}

/** How many servers the stored data was written by; undefined without data. */
export function storedNodes({ data }: Layout): number | undefined {
  const nodes = list(data).filter((name) => /^nats-\d+$/.test(name));
  const hasStreams = (node: string): boolean =>
    list(join(data, node, 'jetstream', 'APP', 'streams')).length > 0;
  return nodes.some(hasStreams) ? nodes.length : undefined;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
