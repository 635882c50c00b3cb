/**
 * msgpack from outside → the tasks in it. A reader of our own, because a general one reads too much (references that
 * blow up, records that become code, texts that are not UTF-8) and cannot tell which bytes a member came from.
 * The first pass only measures, so that one bad member leaves its neighbours readable.
 */
import { Failure } from '../domain/failure.ts';
import { DEPTH_MAX, refuseKey, tooDeep } from './plain.ts';
import type { Members } from './submission-members.ts';

interface Token {
  readonly kind: 'scalar' | 'text' | 'bytes' | 'array' | 'map' | 'extension';
  /** Bytes of the payload, or members of the container. */
  readonly length: number;
  /** Where the payload begins. */
  readonly start: number;
}

interface Cursor {
  at: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const SCALAR_BYTES: Readonly<Record<number, number>> = {
  0xc0: 0, // nil, false, true
  0xc2: 0,
  0xc3: 0,
  0xca: 4, // floats
  0xcb: 8,
  0xcc: 1, // whole numbers
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
  0xd0: 1,
  0xd1: 2,
  0xd2: 4,
  0xd3: 8,
};
/** First code of a family whose length follows in 1, 2 or 4 bytes. */
const LENGTHS = [
  { kind: 'bytes', from: 0xc4, sizes: [1, 2, 4] },
  { kind: 'extension', from: 0xc7, sizes: [1, 2, 4] },
  { kind: 'text', from: 0xd9, sizes: [1, 2, 4] },
  { kind: 'array', from: 0xdc, sizes: [2, 4] },
  { kind: 'map', from: 0xde, sizes: [2, 4] },
] as const;

/** Throws `INVALID` when the bytes as a whole are not one msgpack value. */
export function msgpackMembers(bytes: Uint8Array): Members {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const top = tokenAt(view, 0);
  const ranges: [number, number][] = [];
  let at = top.kind === 'array' ? top.start : 0;
  for (let index = 0; index < (top.kind === 'array' ? top.length : 1); index += 1) {
    const end = endOf(view, at);
    ranges.push([at, end]);
    at = end;
  }
  if (at !== bytes.length) throw new Failure('INVALID', 'the message is neither text nor msgpack');
  const rangeAt = (index: number): [number, number] => ranges[index] ?? [at, at];
  return {
    count: ranges.length,
    read: (index) => readValue(view, { at: rangeAt(index)[0] }, 0),
    bytes: (index) => bytes.subarray(...rangeAt(index)),
  };
}

/** Where the value that begins at `start` ends. Counts instead of recursing: depth costs nothing. */
function endOf(view: DataView, start: number): number {
  let at = start;
  for (let open = 1; open > 0; open -= 1) {
    const token = tokenAt(view, at);
    at = token.start;
    if (token.kind === 'array') open += token.length;
    else if (token.kind === 'map') open += token.length * 2;
    else at += token.length;
    if (at > view.byteLength) throw cutShort();
  }
  return at;
}

function tokenAt(view: DataView, at: number): Token {
  if (at >= view.byteLength) throw cutShort();
  const code = view.getUint8(at);
  const start = at + 1;
  if (code < 0x80 || code >= 0xe0) return { kind: 'scalar', length: 0, start };
  if (code < 0x90) return { kind: 'map', length: code & 0x0f, start };
  if (code < 0xa0) return { kind: 'array', length: code & 0x0f, start };
  if (code < 0xc0) return { kind: 'text', length: code & 0x1f, start };
  const scalar = SCALAR_BYTES[code];
  if (scalar !== undefined) return { kind: 'scalar', length: scalar, start };
  // Extensions of 1, 2, 4, 8 and 16 bytes, after a byte for their type.
  if (code >= 0xd4 && code <= 0xd8) return { kind: 'extension', length: 1 + 2 ** (code - 0xd4), start };
  const family = LENGTHS.find(({ from, sizes }) => code >= from && code < from + sizes.length);
  const size = family?.sizes[code - family.from];
  if (family === undefined || size === undefined)
    throw new Failure('INVALID', 'the message is neither text nor msgpack');
  if (start + size > view.byteLength) throw cutShort();
  const length =
    size === 1 ? view.getUint8(start) : size === 2 ? view.getUint16(start) : view.getUint32(start);
  return { kind: family.kind, length: length + (family.kind === 'extension' ? 1 : 0), start: start + size };
}

function readValue(view: DataView, cursor: Cursor, depth: number): unknown {
  const { kind, length, start } = tokenAt(view, cursor.at);
  if (depth === DEPTH_MAX && (kind === 'array' || kind === 'map')) throw tooDeep();
  const opening = cursor.at;
  cursor.at = kind === 'array' || kind === 'map' ? start : start + length;
  switch (kind) {
    case 'scalar':
      return readScalar(view, opening);
    case 'text':
      return readText(view, start, length);
    case 'bytes':
      return bytesAt(view, start, length).slice();
    case 'array':
      return Array.from({ length }, () => readValue(view, cursor, depth + 1));
    case 'map':
      return readMap(view, cursor, { length, depth });
    case 'extension':
      throw new Failure('INVALID', 'it has a msgpack extension in it; only plain data is read');
  }
}

function readMap(view: DataView, cursor: Cursor, map: { length: number; depth: number }): unknown {
  const object: Record<string, unknown> = {};
  for (let index = 0; index < map.length; index += 1) {
    const key = readValue(view, cursor, map.depth + 1);
    if (typeof key !== 'string') throw new Failure('INVALID', 'it has a key that is not text');
    refuseKey(key);
    object[key] = readValue(view, cursor, map.depth + 1);
  }
  return object;
}

function readScalar(view: DataView, at: number): unknown {
  const code = view.getUint8(at);
  if (code < 0x80 || code >= 0xe0) return view.getInt8(at);
  if (code === 0xc0) return null;
  if (code === 0xc2 || code === 0xc3) return code === 0xc3;
  const number = readNumber(view, { code, at: at + 1 });
  if (!Number.isFinite(number)) throw new Failure('INVALID', 'it has a number in it that is not finite');
  return number;
}

function readNumber(view: DataView, { code, at }: { code: number; at: number }): number {
  switch (code) {
    case 0xca:
      return view.getFloat32(at);
    case 0xcb:
      return view.getFloat64(at);
    case 0xcc:
      return view.getUint8(at);
    case 0xcd:
      return view.getUint16(at);
    case 0xce:
      return view.getUint32(at);
    case 0xd0:
      return view.getInt8(at);
    case 0xd1:
      return view.getInt16(at);
    case 0xd2:
      return view.getInt32(at);
    default:
      return safeNumber(code === 0xcf ? view.getBigUint64(at) : view.getBigInt64(at));
  }
}

function safeNumber(whole: bigint): number {
  const number = Number(whole);
  if (Number.isSafeInteger(number)) return number;
  throw new Failure(
    'INVALID',
    'it has a whole number in it beyond 2^53, which would lose digits; send it as text',
  );
}

function readText(view: DataView, start: number, length: number): string {
  try {
    return decoder.decode(bytesAt(view, start, length));
  } catch (cause) {
    throw new Failure('INVALID', 'it has a text in it that is not UTF-8', { cause });
  }
}

function bytesAt(view: DataView, start: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + start, length);
}

function cutShort(): Failure {
  return new Failure('INVALID', 'the message looks like msgpack but is cut short');
}
