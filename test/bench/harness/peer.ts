/** A process of a contestant, driven by messages: see peers/host.mjs. */
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../src/project-root.ts';
import { guard, type Teardown } from '../../kit/nats-server.ts';

export interface Peer {
  readonly pid: number;
  call<T = void>(name: string, args?: object): Promise<T>;
  end(): void;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

const home = join(projectRoot, 'test/bench');

/** Whether the packages of others are installed beside the bench. */
export function hasPackage(name: string): boolean {
  return process.env['PEERS'] !== 'no' && existsSync(join(home, 'node_modules', name, 'package.json'));
}

/** `module`: a file of peers/, or the absolute path of one of ours. */
export async function startPeer(
  t: Teardown,
  module: string,
  settings: object,
  execArgv: readonly string[] = [],
): Promise<Peer> {
  const path = module.startsWith('/') ? module : join(home, 'peers', module);
  const child = fork(join(home, 'peers/host.mjs'), [pathToFileURL(path).href, JSON.stringify(settings)], {
    execArgv: [...execArgv],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
  });
  guard(child);
  t.teardown(() => child.kill('SIGKILL'));
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;
  child.on('message', ({ id, value, error }: Answer) => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) waiter?.resolve(value);
    else waiter?.reject(new Error(`${module}: ${error}`));
  });
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${module} ended: ${code ?? signal ?? ''}`));
  });
  await new Promise((resolve, reject) => waiting.set(0, { resolve, reject }));
  return {
    pid: child.pid ?? 0,
    call<T>(name: string, args: object = {}) {
      last += 1;
      const id = last;
      child.send({ id, call: name, args });
      return new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject })) as Promise<T>;
    },
    end: () => void child.kill('SIGTERM'),
  };
}
