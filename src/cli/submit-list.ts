/** Streams a list of tasks into a run, with a bar on a terminal. */
import type { Client } from '../client/client.ts';
import type { SubmitProgress } from '../client/submit-stream.ts';
import type { Output } from './output.ts';
import { createMeter, createStatusLine, renderBar, renderCount, renderRate } from './progress-bar.ts';
import type { TaskFile } from './task-lines.ts';

const BAR_WIDTH = 24;

export interface ListToSubmit {
  readonly client: Client;
  readonly scraper: string;
  readonly file: TaskFile;
  readonly output: Output;
  readonly run: string | undefined;
  readonly priority: number | undefined;
  readonly dropTracking: boolean;
  /** Gives up between two tasks when it aborts, and throws its reason. */
  readonly until?: AbortSignal;
}

export async function submitList(list: ListToSubmit): ReturnType<Client['run']> {
  const { client, scraper, file, output, run, priority, dropTracking, until } = list;
  const line = createStatusLine(output.json ? { write: () => undefined } : process.stderr);
  const meter = createMeter();
  const tasks = until ? unlessAborted(file.tasks, until) : file.tasks;
  try {
    return await client.run(scraper, tasks, {
      run,
      priority,
      dropTracking,
      onProgress: (progress) =>
        line.show(renderProgress(progress, file, meter.read(progress.tasks, performance.now()))),
    });
  } finally {
    line.clear();
  }
}

async function* unlessAborted<T>(tasks: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  for await (const task of tasks) {
    signal.throwIfAborted();
    yield task;
  }
}

function renderProgress({ tasks, waiting }: SubmitProgress, file: TaskFile, perSecond: number): string {
  const bar = file.bytes === undefined ? '' : `${renderBar(file.bytesRead() / file.bytes, BAR_WIDTH)}  `;
  const wait = waiting ? '  the intake is full, waiting for room' : '';
  return `${bar}${renderCount(tasks)} tasks  ${renderRate(perSecond)}${wait}`;
}
