/** The lines of a file or of stdin (`-`), trimmed and numbered, a piece of it in memory at a time. */
import { createReadStream } from 'node:fs';
import { Failure, messageOf } from '../domain/failure.ts';

export interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

/** Throws `INVALID` when it cannot be read. */
export async function* readLines(path: string): AsyncGenerator<NumberedLine> {
  const decoder = new TextDecoder('utf-8'); // drops a byte order mark
  let rest = '';
  let number = 0;
  for await (const bytes of chunksOf(path)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield { number: (number += 1), text: line.trim() };
  }
  yield { number: number + 1, text: (rest + decoder.decode()).trim() };
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* (path === '-' ? process.stdin : createReadStream(path)) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new Failure('INVALID', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
