/** A command of the user's: told the old and the new number. On the way down, the least busy drain first. */
import { spawn } from 'node:child_process';
import { Failure } from '../domain/failure.ts';
import { pickToDrain } from '../policy/autoscale/pick-worker.ts';
import type { ScaleDriver, WorkerControl } from './driver.ts';

export interface CommandDriverOptions {
  readonly command: string;
  readonly drainWaitMs: number;
  readonly control: Pick<WorkerControl, 'drain' | 'untilIdle'>;
}

const COMMAND_MAX_MS = 120_000;
const WORDS_MAX = 2_000;

export function createCommandDriver({ command, drainWaitMs, control }: CommandDriverOptions): ScaleDriver {
  return {
    name: 'command',
    count: () => Promise.resolve(undefined),
    async apply({ from, to, workers }, signal) {
      const ids = pickToDrain(workers, from - to).map(({ id }) => id);
      for (const id of ids) await control.drain(id);
      await control.untilIdle(ids, drainWaitMs, signal);
      signal.throwIfAborted();
      await run(fill(command, { from, to, ids }), signal);
    },
    close: () => Promise.resolve(),
  };
}

/** Numbers and ids hold nothing that a shell could take for more. */
export function fill(
  command: string,
  { from, to, ids }: { from: number; to: number; ids: readonly string[] },
): string {
  return command
    .replaceAll('{from}', String(from))
    .replaceAll('{to}', String(to))
    .replaceAll('{ids}', ids.join(' '));
}

async function run(command: string, signal: AbortSignal): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] });
  const stop = (): void => void child.kill('SIGKILL');
  const late = setTimeout(stop, COMMAND_MAX_MS);
  signal.addEventListener('abort', stop, { once: true });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-WORDS_MAX);
  });
  try {
    const how = await new Promise<string | undefined>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, by) =>
        resolve(code === 0 ? undefined : `ended ${by ? `by ${by}` : `with ${code ?? 1}`}`),
      );
    });
    if (how !== undefined)
      throw new Failure('INTERNAL', `the command to scale ${how}${words === '' ? '' : `: ${words.trim()}`}`);
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
  }
}
