/** Starts the supervisor as a process of its own and waits for its word. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { Failure, messageOf } from '../domain/failure.ts';
import { stopMaxMs } from './cluster.ts';
import { logFile, type Layout } from './layout.ts';
import { lastLines, openLog, sizeOf } from './log-file.ts';
import { parseLaunchMessage, unpackFailure } from './messages.ts';
import type { ClusterPlan } from './plan.ts';
import type { Report } from './progress.ts';
import type { ClusterState } from './state.ts';

export interface LaunchOptions {
  /** Program and arguments of the supervisor. */
  readonly command: readonly string[];
  readonly plan: ClusterPlan;
  readonly layout: Layout;
  readonly report: Report;
}

export type Launched =
  | { readonly kind: 'up'; readonly state: ClusterState }
  /** Somebody else works on this home. */
  | { readonly kind: 'busy'; readonly pid: number; readonly role: string }
  /** It died or hung without a word of its own; what it had started may run on. */
  | { readonly kind: 'vanished'; readonly failure: Failure };

const WORDS_LINES = 8;

/** Throws what the supervisor says when it could not start the cluster and has stopped everything again. */
export async function launchSupervisor(options: LaunchOptions): Promise<Launched> {
  const { plan, layout } = options;
  const file = logFile(layout, 'supervisor');
  mkdirSync(layout.logs, { recursive: true, mode: 0o700 });
  const logFrom = sizeOf(file);
  const child = spawnDetached(options.command, file);
  const limitMs = plan.startMaxMs + stopMaxMs(plan.stopGraceMs);
  try {
    return await converse(child, options, limitMs);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const words = lastLines(file, WORDS_LINES, logFrom).map((line) => `\n  ${line}`);
    const text = `the supervisor ${messageOf(error)}${words.join('')}`;
    return {
      kind: 'vanished',
      failure: new Failure('INTERNAL', text, { cause: error, hint: `Its whole log: ${file}` }),
    };
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
}

function spawnDetached([program = '', ...args]: readonly string[], file: string): ChildProcess {
  const descriptor = openLog(file);
  try {
    return spawn(program, args, { detached: true, stdio: ['ignore', descriptor, descriptor, 'ipc'] });
  } finally {
    closeSync(descriptor);
  }
}

function converse(child: ChildProcess, { plan, report }: LaunchOptions, limitMs: number): Promise<Launched> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // Far past every limit of its own: it hangs.
      child.kill('SIGKILL');
      settle(() => reject(new Error(`did not answer within ${limitMs} ms and was ended`)));
    }, limitMs);
    const settle = (done: () => void): void => {
      clearTimeout(timer);
      child.removeAllListeners().on('error', () => undefined);
      done();
    };
    child.once('error', (error) => settle(() => reject(new Error(`could not be started: ${error.message}`))));
    child.once('exit', (code, signal) =>
      settle(() => reject(new Error(`ended at its start (${signal ?? `exit code ${code ?? 0}`})`))),
    );
    child.on('message', (input) => {
      const message = parseLaunchMessage(input);
      switch (message?.type) {
        case 'hello':
          child.send(plan);
          break;
        case 'progress':
          report(message.progress);
          break;
        case 'busy':
          settle(() => resolve({ kind: 'busy', pid: message.pid, role: message.role }));
          break;
        case 'up':
          settle(() => resolve({ kind: 'up', state: message.state }));
          break;
        case 'failed':
          settle(() => reject(unpackFailure(message.failure)));
          break;
        case undefined: // not ours: something in the environment also talks over this channel
      }
    });
  });
}
