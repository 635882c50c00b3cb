/** Processes of the cluster under test. Whoever ends is started again, until the fleet is stopped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '../../../src/nats/connect.ts';
import type { Names } from '../../../src/wire/names.ts';
import { guard, type Teardown } from '../nats-server.ts';
import type { History } from './history.ts';

export interface ProcessSpec {
  readonly role: 'worker' | 'coordinator';
  readonly name: string;
  /** The program and its arguments. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export interface Member {
  readonly role: ProcessSpec['role'];
  pid(): number;
  /** Undefined while it is between two lives. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): number | undefined;
}

export interface Fleet {
  readonly members: readonly Member[];
  /** Ends all of them for good. */
  stop(): Promise<void>;
}

const RESTART_MS = 150;
const LOOK_MS = 50;
const READY_MAX_MS = 30_000;

export function startFleet(t: Teardown, specs: readonly ProcessSpec[], history: History): Fleet {
  const stopping = new AbortController();
  const isStopped = (): boolean => stopping.signal.aborted;
  const lives: Promise<void>[] = [];
  const children = new Map<string, ChildProcess>();
  const stop = async (): Promise<void> => {
    stopping.abort();
    for (const child of children.values()) child.kill('SIGKILL');
    await Promise.all(lives);
  };
  t.teardown(stop);
  const members = specs.map((spec) => {
    lives.push(keepAlive(spec));
    return memberOf(spec);
  });
  return { members, stop };

  async function keepAlive(spec: ProcessSpec): Promise<void> {
    while (!isStopped()) {
      const log = openSync(spec.logFile, 'a');
      const child = spawn(process.execPath, spec.args, { env: spec.env, stdio: ['ignore', log, log] });
      closeSync(log);
      guard(child);
      children.set(spec.name, child);
      await once(child, 'exit');
      children.delete(spec.name);
      if (isStopped()) return;
      history.add({ type: 'died', at: Date.now(), role: spec.role, pid: child.pid ?? 0 });
      await delay(RESTART_MS);
    }
  }

  function memberOf({ role, name }: ProcessSpec): Member {
    return {
      role,
      pid: () => children.get(name)?.pid ?? 0,
      signal(signal) {
        const child = children.get(name);
        return child?.kill(signal) === true ? child.pid : undefined;
      },
    };
  }
}

/** Whoever asks the server for work is ready for it. Before that a fault would hit nothing. */
export async function untilReady(
  { jsm }: Connection,
  names: Names,
  members: readonly Member[],
): Promise<void> {
  const sources = [
    { role: 'worker', stream: names.stream('TASKS'), consumer: 'p0' },
    { role: 'coordinator', stream: names.stream('INTAKE'), consumer: 'coordinator' },
  ];
  const enough = AbortSignal.timeout(READY_MAX_MS);
  for (const { role, stream, consumer } of sources) {
    const wanted = members.filter((member) => member.role === role).length;
    while ((await jsm.consumers.info(stream, consumer)).num_waiting < wanted) {
      enough.throwIfAborted();
      await delay(LOOK_MS);
    }
  }
}
