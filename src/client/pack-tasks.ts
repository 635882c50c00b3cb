/** Tasks → chunks for the intake: as many lines of JSON as fit into one message. */
import { Failure } from '../domain/failure.ts';

/** A URL, or an object with a `url`, a `key` or an `input`; fields besides these go to the scraper. */
export type Task = string | Readonly<Record<string, unknown>>;

export interface ChunkLimits {
  readonly tasksMax: number;
  /** Of one message. A message holds at least one task, so this is the limit of a task as well. */
  readonly bytesMax: number;
  readonly taskMaxBytes: number;
}

export const CHUNK_LIMITS: ChunkLimits = {
  tasksMax: 1_000,
  bytesMax: 256 * 1024,
  taskMaxBytes: 256 * 1024,
};

export interface Chunk {
  readonly payload: Uint8Array;
  readonly tasks: number;
}

/** A URL as it stands is one line, and is the same line without quotes. */
const PLAIN_URL = /^https?:\/\/\S+$/i;

export async function* packTasks(
  tasks: Iterable<Task> | AsyncIterable<Task>,
  limits: ChunkLimits = CHUNK_LIMITS,
): AsyncGenerator<Chunk, void, undefined> {
  const taskMaxBytes = Math.min(limits.taskMaxBytes, limits.bytesMax);
  let lines: string[] = [];
  let bytes = 0;
  let number = 0;

  const flush = (): Chunk => {
    const chunk = { payload: Buffer.from(lines.join('\n')), tasks: lines.length };
    lines = [];
    bytes = 0;
    return chunk;
  };

  for await (const task of tasks) {
    number += 1;
    const line = lineOf(task, number);
    const size = Buffer.byteLength(line) + 1;
    if (size - 1 > taskMaxBytes) throw tooBig(line, { number, bytes: size - 1, taskMaxBytes });
    if (lines.length === limits.tasksMax || bytes + size > limits.bytesMax + 1) yield flush();
    lines.push(line);
    bytes += size;
  }
  if (lines.length > 0) yield flush();
}

function lineOf(task: Task, number: number): string {
  if (typeof task === 'string') return PLAIN_URL.test(task) ? task : JSON.stringify(task);
  try {
    return JSON.stringify(task);
  } catch (cause) {
    throw new Failure('INVALID', `task ${number} cannot be sent: it is not plain data`, {
      cause,
      hint: 'A task is a URL, or an object of texts, numbers, lists and objects.',
    });
  }
}

function tooBig(line: string, size: { number: number; bytes: number; taskMaxBytes: number }): Failure {
  const shown = line.length > 80 ? `${line.slice(0, 80)}…` : line;
  return new Failure(
    'INVALID',
    `task ${size.number} (${shown}) has ${size.bytes} bytes: at most ${size.taskMaxBytes}`,
    { hint: 'Put the data where the scraper can fetch it, and send the address.' },
  );
}
