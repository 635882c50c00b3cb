/** `trawl down`: everything stops in order and nothing of it is left, also when its supervisor died or hangs. */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';
import { askSupervisor, type Asked } from './ask-supervisor.ts';
import { stopMaxMs } from './cluster.ts';
import { readLockHolder, tryLockHome, type LockHolder } from './home-lock.ts';
import { isOurs, layoutOf } from './home.ts';
import { allPorts, nodePaths, type Layout } from './layout.ts';
import { inspectHome, refuseImmortal, stopLeftovers } from './leftovers.ts';
import { findBusyPorts } from './ports.ts';
import { signalProcess, untilGone, type ProcessIdentity } from './process-identity.ts';
import type { Report } from './progress.ts';
import { readClusterState, recordsOf, writeClusterState, type ClusterState } from './state.ts';

export interface DownOptions {
  readonly home: string;
}

export interface DownResult {
  readonly outcome: 'stopped' | 'not-running';
}

const DEFAULT_GRACE_MS = 5_000;
const GONE_MAX_MS = 5_000;
const PORTS_FREE_MAX_MS = 2_000;
/** A supervisor that has just started, or is about to end, does not listen for a moment. */
const DEAF_MAX_MS = 2_000;
const RETRY_MS = 50;

/** The data stays. After 'stopped' no process of the cluster lives and none of its ports is taken. */
export async function bringDown({ home }: DownOptions, report: Report): Promise<DownResult> {
  const layout = layoutOf(home);
  if (!isOurs(layout)) return { outcome: 'not-running' };
  const graceMs = graceOf(layout);
  const began = performance.now();
  for (let hasRun = false; ;) {
    const asked = await askSupervisor(layout.socket, 'stop', { limitMs: stopMaxMs(graceMs), report });
    if (asked.kind === 'answered') {
      await verifyGone(layout, asked.state);
      return { outcome: 'stopped' };
    }
    const swept = await sweepHome(layout, report);
    if ('outcome' in swept) return hasRun ? { outcome: 'stopped' } : swept;
    if (swept.role === 'single') throw explainBusy(layout, swept); // it ends when its run does
    hasRun ||= swept.role !== 'clean';
    const waitedMs = performance.now() - began;
    if (waitedMs > 2 * stopMaxMs(graceMs)) throw explainBusy(layout, swept);
    if (swept.role === 'supervisor' && isDeaf(asked, waitedMs)) {
      const supervisorMs = asked.kind === 'silent' ? 0 : stopMaxMs(graceMs);
      await endSupervisor(swept, { graceMs: supervisorMs, report });
    } else {
      await delay(RETRY_MS); // whoever holds the lock ends soon, and tells no stranger when
    }
  }
}

/** Stops what a supervisor that is gone left behind; when somebody else works on the home, says who. */
export async function sweepHome(layout: Layout, report: Report): Promise<DownResult | LockHolder> {
  const lock = tryLockHome(layout.home, 'down');
  if (!lock.held) return lock.holder;
  try {
    return await tidyUp(layout, graceOf(layout), report);
  } finally {
    lock.release();
  }
}

function graceOf(layout: Layout): number {
  return readClusterState(layout.state)?.stopGraceMs ?? DEFAULT_GRACE_MS;
}

function isDeaf(asked: Asked, waitedMs: number): boolean {
  return asked.kind === 'silent' || (asked.kind === 'nobody' && waitedMs > DEAF_MAX_MS);
}

/** One that hears its signal stops its cluster in good order; one that does not is ended, and its children are left over. */
async function endSupervisor(
  supervisor: ProcessIdentity,
  { graceMs, report }: { graceMs: number; report: Report },
): Promise<void> {
  report({ step: 'cleaning', text: `the supervisor (pid ${supervisor.pid}) does not answer and is ended` });
  signalProcess(supervisor, 'SIGTERM');
  const stubborn = await untilGone([supervisor], graceMs);
  for (const process of stubborn) signalProcess(process, 'SIGKILL');
  const immortal = await untilGone(stubborn, GONE_MAX_MS);
  refuseImmortal(immortal.map((process) => ({ name: 'supervisor', role: 'supervisor', ...process })));
}

/** Under the lock, without a supervisor: stops what it left and puts the records straight. */
async function tidyUp(layout: Layout, graceMs: number, report: Report): Promise<DownResult> {
  const first = inspectHome(layout, { answers: false });
  if (first.verdict.condition === 'silent' && first.state) {
    await endSupervisor(first.state.supervisor, { graceMs: stopMaxMs(graceMs), report });
  }
  const { state, verdict } = inspectHome(layout, { answers: false });
  for (const { name, pid } of verdict.reused) {
    report({
      step: 'cleaning',
      text: `pid ${pid}, once ${name}, belongs to another program now and is left alone`,
    });
  }
  if (verdict.condition === 'stale')
    report({ step: 'cleaning', text: 'the last cluster ended without `down`' });
  if (verdict.alive.length > 0) {
    report({ step: 'cleaning', text: 'the supervisor is gone and left processes behind' });
    await stopLeftovers(verdict.alive, { graceMs, report });
  }
  rmSync(layout.socket, { force: true });
  for (let number = 1; number <= (state?.nodes ?? 0); number += 1) {
    rmSync(nodePaths(layout, number).pidFile, { force: true });
  }
  if (state && state.phase !== 'stopped') writeClusterState(layout.state, asStopped(state));
  if (verdict.alive.length === 0 && first.verdict.condition !== 'silent') return { outcome: 'not-running' };
  if (state) await untilPortsFree(state, () => true);
  return { outcome: 'stopped' };
}

function asStopped(state: ClusterState): ClusterState {
  const children = state.children.map((child) => ({ ...child, process: null, state: 'stopped' as const }));
  return { ...state, phase: 'stopped', children };
}

async function verifyGone(layout: Layout, state: ClusterState): Promise<void> {
  const supervisor = { name: 'supervisor', role: 'supervisor', ...state.supervisor };
  refuseImmortal(await untilGone([...recordsOf(state), supervisor], GONE_MAX_MS));
  // An `up` that waited for this end may already have taken the ports again.
  await untilPortsFree(state, () => readLockHolder(layout.home) === undefined);
}

async function untilPortsFree(state: ClusterState, matters: () => boolean): Promise<void> {
  const end = performance.now() + PORTS_FREE_MAX_MS;
  for (;;) {
    const busy = await findBusyPorts(allPorts(state.ports));
    if (busy.length === 0 || !matters()) return;
    if (performance.now() > end) {
      const said = busy.map(({ port, who }) => `port ${port} is taken by ${who}`).join('; ');
      throw new Failure('INTERNAL', `everything has stopped, and yet ${said}`, {
        hint: 'Find who listens there with `ss -ltnp` or `lsof -i`.',
      });
    }
    await delay(RETRY_MS);
  }
}

function explainBusy(layout: Layout, { pid, role }: { pid: number; role: string }): Failure {
  return new Failure('CONFLICT', `another process works on ${layout.home}: ${role} (pid ${pid})`, {
    hint: 'Try again when it has ended.',
  });
}
