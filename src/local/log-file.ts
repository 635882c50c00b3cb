/**
 * Logs of the cluster's processes. Each process writes to its file itself, so nothing is lost when the supervisor dies;
 * for the same reason a full log is copied and emptied instead of renamed: the writer keeps the file open.
 */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
} from 'node:fs';

const TAIL_MAX_BYTES = 16_384;

/** A descriptor to hand to a child; close it after that. Appending is what makes emptying safe. */
export function openLog(file: string): number {
  return openSync(file, 'a', 0o600);
}

export function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

/** Keeps the log below the limit and one older part beside it, as `<file>.1`. */
export function rotateLog(file: string, maxBytes: number): boolean {
  if (sizeOf(file) <= maxBytes) return false;
  copyFileSync(file, `${file}.1`);
  // What was written while we copied; only the instant before the next line can lose something.
  const late = readFrom(file, sizeOf(`${file}.1`), TAIL_MAX_BYTES);
  truncateSync(file);
  if (late !== '') appendFileSync(`${file}.1`, late);
  return true;
}

/** The last lines, not from before `fromByte`. */
export function lastLines(file: string, count: number, fromByte = 0): string[] {
  const size = sizeOf(file);
  // A log shorter than the mark was emptied since: all of it is new.
  const start = Math.max(size < fromByte ? 0 : fromByte, size - TAIL_MAX_BYTES);
  return readFrom(file, start, TAIL_MAX_BYTES)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count);
}

function readFrom(file: string, start: number, maxBytes: number): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const length = Math.min(Math.max(fstatSync(descriptor).size - start, 0), maxBytes);
    const buffer = Buffer.alloc(length);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, length, start));
  } finally {
    closeSync(descriptor);
  }
}
