/** A list of tasks in a file or on stdin: one per line, a URL or a JSON object; blank lines and `#` comments are none. */
import { createReadStream, statSync } from 'node:fs';
import { Failure, messageOf } from '../domain/failure.ts';

export interface TaskFile {
  /** Undefined when nobody can know it beforehand. */
  readonly bytes: number | undefined;
  /** Bytes read so far. */
  bytesRead(): number;
  readonly tasks: AsyncIterable<string | Readonly<Record<string, unknown>>>;
}

const LINE_MAX_CHARACTERS = 1024 * 1024;

/** Throws `INVALID` when there is no such file. */
export function requireTaskFile(path: string): void {
  if (path !== '-') sizeOf(path);
}

/** `-` is stdin. Throws `INVALID` when there is no such file. */
export function openTaskFile(path: string): TaskFile {
  let read = 0;
  const stdin = path === '-';
  const size = stdin ? undefined : sizeOf(path);
  const stream = stdin ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
  return { bytes: size, bytesRead: () => read, tasks: tasksIn(chunks(), path) };

  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      read += chunk.length;
      yield chunk;
    }
  }
}

function sizeOf(path: string): number | undefined {
  try {
    const facts = statSync(path);
    if (facts.isDirectory()) throw new Failure('INVALID', `${path} is a folder, not a file`);
    return facts.isFile() ? facts.size : undefined;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('INVALID', `${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
      hint: 'Give a file with one URL per line, or - for stdin.',
    });
  }
}

export async function* tasksIn(
  source: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<string | Readonly<Record<string, unknown>>, void, undefined> {
  const decoder = new TextDecoder('utf-8'); // drops a byte order mark
  let rest = '';
  let number = 0;
  for await (const bytes of source) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_MAX_CHARACTERS) throw endless(path, number + lines.length + 1);
    for (const line of lines) {
      number += 1;
      const task = parseLine(line);
      if (task !== undefined) yield task;
    }
  }
  const last = parseLine(rest + decoder.decode());
  if (last !== undefined) yield last;
}

/** What is no JSON goes as it stands: the coordinator buries it with its reason, and its neighbours live on. */
function parseLine(line: string): string | Readonly<Record<string, unknown>> | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return undefined;
  if (!text.startsWith('{')) return text;
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return text;
  }
}

function endless(path: string, line: number): Failure {
  return new Failure('INVALID', `line ${line} of ${path} is longer than ${LINE_MAX_CHARACTERS} characters`, {
    hint: 'The file must have one task per line.',
  });
}
