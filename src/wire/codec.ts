/**
 * Bytes ↔ values. Inside the cluster everything is msgpack; what people and other programs send may be JSON too,
 * and the first byte tells them apart: a JSON object, array or string opens with a character that msgpack uses
 * only for small integers, which are never a message of ours.
 */
import { Packr } from 'msgpackr';
import { Failure } from '../domain/failure.ts';
import { refuseHostile } from './plain.ts';

// Plain maps: the reader may be another version, or another language, without our record table.
// No references: a few hundred bytes of them can unfold into more than a machine holds.
const packr = new Packr({ useRecords: false, structuredClone: false });
const decoder = new TextDecoder('utf-8', { fatal: true });
const encoder = new TextEncoder();

const JSON_OPENERS = new Set(['{', '[', '"', ' ', '\n', '\r', '\t'].map((char) => char.charCodeAt(0)));

export function encode(value: unknown): Uint8Array {
  // A copy of its own size: the packer's buffer is as large as the largest message so far, and publishers hold a
  // message until it is acknowledged.
  return Buffer.from(packr.pack(value));
}

/** For values that a person reads with the nats CLI: heartbeats, runs, replies. */
export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** JSON or msgpack → value. Throws `INVALID` for anything else, and for keys or depths that only an attacker sends. */
export function decode(bytes: Uint8Array): unknown {
  const first = bytes[0];
  if (first === undefined) throw new Failure('INVALID', 'the message is empty');
  const value = JSON_OPENERS.has(first) ? decodeJson(bytes) : decodeMsgpack(bytes);
  refuseHostile(value);
  return value;
}

function decodeJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    throw new Failure('INVALID', `the message looks like JSON but is not: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function decodeMsgpack(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes);
  } catch (cause) {
    throw new Failure('INVALID', 'the message is neither JSON nor msgpack', { cause });
  }
}
