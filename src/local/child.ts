/**
 * One process of the cluster, kept running.
 *
 *   stopped → starting → up → (exit) restarting → starting …
 *                              (exit no restart can cure) failed
 *   any of them → stopping → stopped
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Failure } from '../domain/failure.ts';
import { decideRestart, NOT_STARTABLE, type Exit, type RestartLimits } from '../policy/restart.ts';
import type { Log } from '../telemetry/log.ts';
import { lastLines, openLog, sizeOf } from './log-file.ts';
import { identify } from './process-identity.ts';
import type { ChildRole, ChildState } from './state.ts';
import { isReadyMessage } from './supervised.ts';

export interface ChildSpec {
  readonly name: string;
  readonly role: ChildRole;
  readonly command: readonly string[];
  readonly logFile: string;
  /** How to see that it serves; without this the process says so itself. */
  readonly untilServing?: (signal: AbortSignal) => Promise<void>;
  /** So many exits before it first served mean that it will not. */
  readonly startExitsMax: number;
}

export interface ChildDeps {
  readonly limits: RestartLimits;
  readonly log: Log;
  readonly onChange: () => void;
}

export interface Child {
  view(): ChildState;
  start(): void;
  /** Resolves when it serves for the first time; rejects when that will not happen. */
  readonly firstUp: Promise<void>;
  /** Asks it to end; one that does not within the grace is killed. */
  stop(graceMs: number): Promise<'ended' | 'killed'>;
  /** It ends by itself, in its own time, and is not started again, however it ends. Resolves when it has ended. */
  letGo(): Promise<void>;
}

const EXITS_KEPT = 32;
const WORDS_LINES = 8;
const KILL_MAX_MS = 5_000;

export function createChild(spec: ChildSpec, { limits, log, onChange }: ChildDeps): Child {
  const exits: Exit[] = [];
  let running: ChildProcess | undefined;
  let restartTimer: NodeJS.Timeout | undefined;
  let stopping: Promise<'ended' | 'killed'> | undefined;
  let onExit = (): void => undefined;
  let isLetGo = false;
  let onGone = (): void => undefined;
  const gone = new Promise<void>((resolve) => (onGone = resolve));
  let settleFirstUp: { resolve: () => void; reject: (reason: Failure) => void };
  const firstUp = new Promise<void>((resolve, reject) => (settleFirstUp = { resolve, reject }));
  firstUp.catch(() => undefined); // whoever waits for it hears of it
  let view: ChildState = {
    name: spec.name,
    role: spec.role,
    process: null,
    state: 'stopped',
    startedAt: null,
    restarts: 0,
    lastExit: null,
    log: spec.logFile,
  };
  return { view: () => view, start, firstUp, stop: (graceMs) => (stopping ??= stop(graceMs)), letGo };

  function change(changes: Partial<ChildState>): void {
    view = { ...view, ...changes };
    onChange();
  }

  function start(): void {
    const logFrom = sizeOf(spec.logFile);
    const began = performance.now();
    const life = new AbortController();
    const ended = (code: number | null, signal: string | null, words?: string): void => {
      if (life.signal.aborted) return;
      life.abort();
      running = undefined;
      const said = words ?? lastLines(spec.logFile, WORDS_LINES, logFrom).join('\n');
      noteExit({ ranMs: performance.now() - began, code, signal }, code === 0 ? '' : said);
    };
    try {
      running = spawnChild(spec);
    } catch (error) {
      ended(null, null, String(error));
      return;
    }
    const child = running;
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) log.warn('child.error', { name: spec.name, reason: error });
      else ended(isHopeless(error) ? NOT_STARTABLE : null, null, error.message);
    });
    child.once('exit', (code, signal) => ended(code, signal));
    child.on('message', (message) => {
      if (isReadyMessage(message)) noteUp(child);
    });
    spec.untilServing?.(life.signal).then(
      () => noteUp(child),
      () => undefined,
    );
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    change({ state: 'starting', process: identity ?? null, startedAt: new Date().toISOString() });
  }

  function noteUp(child: ChildProcess): void {
    if (running !== child || view.state !== 'starting') return;
    log.info('child.up', { name: spec.name, pid: child.pid });
    settleFirstUp.resolve();
    change({ state: 'up' });
  }

  function noteExit(exit: Exit, words: string): void {
    const { code, signal } = exit;
    exits.push(exit);
    if (exits.length > EXITS_KEPT) exits.shift();
    const lastExit = { at: new Date().toISOString(), code, signal, words };
    const left = { process: null, lastExit };
    if (stopping || isLetGo) leave(left);
    else recover(left);
    onExit();
    if (isLetGo) onGone();
  }

  function leave(left: Partial<ChildState>): void {
    change({ ...left, state: 'stopped' });
    // Whoever still waits for it to serve waits in vain; for all others this comes too late to change anything.
    settleFirstUp.reject(explainExit(view));
  }

  function recover(gone: Pick<ChildState, 'process' | 'lastExit'>): void {
    const kind = spec.role === 'nats' ? 'server' : 'actor';
    const decision = decideRestart({ kind, exits, random: Math.random() }, limits);
    log.warn('child.exited', { name: spec.name, ...gone.lastExit, ...decision });
    if (decision.action !== 'restart') {
      change({ ...gone, state: decision.action === 'leave' ? 'stopped' : 'failed' });
    } else {
      change({ ...gone, state: 'restarting' });
      restartTimer = setTimeout(() => {
        view = { ...view, restarts: view.restarts + 1 };
        start();
      }, decision.delayMs);
    }
    if (decision.action !== 'restart' || exits.length >= spec.startExitsMax)
      settleFirstUp.reject(explainExit(view));
  }

  function letGo(): Promise<void> {
    isLetGo = true;
    if (running) change({ state: 'stopping' });
    else {
      clearTimeout(restartTimer);
      leave({});
      onGone();
    }
    return gone;
  }

  async function stop(graceMs: number): Promise<'ended' | 'killed'> {
    clearTimeout(restartTimer);
    const child = running;
    if (!child) {
      if (view.state !== 'failed') leave({});
      return 'ended';
    }
    change({ state: 'stopping' });
    return new Promise((resolve) => {
      let how: 'ended' | 'killed' = 'ended';
      const kill = setTimeout(() => {
        how = 'killed';
        child.kill('SIGKILL');
      }, graceMs);
      // A process that even SIGKILL does not end hangs in the kernel; waiting longer does not help.
      const giveUp = setTimeout(() => resolve('killed'), graceMs + KILL_MAX_MS);
      onExit = () => {
        clearTimeout(kill);
        clearTimeout(giveUp);
        resolve(how);
      };
      child.kill('SIGTERM');
    });
  }
}

/** Why a process did not come up, with its last words. */
export function explainExit({ name, lastExit, log }: ChildState): Failure {
  const how = lastExit?.signal ? `by ${lastExit.signal}` : `with exit code ${lastExit?.code ?? 'unknown'}`;
  const words = (lastExit?.words ?? '').split('\n').map((line) => `\n  ${line}`);
  return new Failure('INTERNAL', `${name} ended at its start ${how}${words.join('')}`, {
    hint: `Its whole log: ${log}`,
  });
}

/** Why a process is not up although it has not ended. */
export function explainLate({ name, state, log }: ChildState): Failure {
  const words = lastLines(log, WORDS_LINES).map((line) => `\n  ${line}`);
  return new Failure('TIMEOUT', `${name} was not ready in time (${state})${words.join('')}`, {
    hint: `Its whole log: ${log}`,
  });
}

function spawnChild({ command: [program = '', ...args], role, logFile }: ChildSpec): ChildProcess {
  const descriptor = openLog(logFile);
  try {
    // The channel tells an actor when its supervisor is gone. A nats-server would not know what to do with it.
    const channel = role === 'nats' ? [] : (['ipc'] as const);
    // Ctrl-C goes to everyone at the terminal; a server that ended by it could store nothing of what is being finished.
    const detached = role === 'nats';
    return spawn(program, args, { stdio: ['ignore', descriptor, descriptor, ...channel], detached });
  } finally {
    closeSync(descriptor);
  }
}

function isHopeless({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'EACCES';
}
