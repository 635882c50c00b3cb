/**
 * Undoes the content codings of an answer, and stops when more comes out than may: 200 MB fit into 200 kB. No more than
 * twice the cap is ever held. Small pages are decoded at once, which costs half as much; all others off the main thread.
 */
import * as zlib from 'node:zlib';
import { promisify } from 'node:util';
import { codeOf, describe, HttpFailure } from './http-failure.ts';

interface Limit {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

interface Decoder {
  now(bytes: Buffer, limit: Limit): Buffer;
  later(bytes: Buffer, limit: Limit): Promise<Buffer>;
}

// Node has zstd from 22.15 on.
const { zstdDecompress, zstdDecompressSync } = zlib as unknown as {
  zstdDecompress?: typeof zlib.gunzip;
  zstdDecompressSync?: Decoder['now'];
};

const gzip: Decoder = { now: zlib.gunzipSync, later: promisify(zlib.gunzip) };
const rawDeflate: Decoder = { now: zlib.inflateRawSync, later: promisify(zlib.inflateRaw) };
const DECODERS: Readonly<Record<string, Decoder | undefined>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { now: zlib.inflateSync, later: promisify(zlib.inflate) },
  br: { now: zlib.brotliDecompressSync, later: promisify(zlib.brotliDecompress) },
  zstd:
    zstdDecompress && zstdDecompressSync
      ? { now: zstdDecompressSync, later: promisify(zstdDecompress) }
      : undefined,
};

/** What to ask for in `accept-encoding`. */
export const ACCEPT_ENCODING = zstdDecompress ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';

const CODINGS_MAX = 3;
/** What takes well below a millisecond. */
const SMALL = { coded: 16 * 1024, decoded: 256 * 1024, chunkSize: 16 * 1024 };
const LARGE_CHUNK = 64 * 1024;
/** Codings that exist, and that we cannot undo. Any other word is a site's mistake, and browsers ignore it. */
const UNDECODABLE: ReadonlySet<string> = new Set(['zstd', 'compress', 'x-compress', 'dcb', 'dcz']);

export interface BodyLimits {
  readonly host: string;
  readonly maxBytes: number;
}

/** The codings of an answer in the order in which they were applied; empty for a plain one. */
export function readCodings(header: string | undefined, host: string): readonly string[] {
  if (header === undefined || header === '') return [];
  const codings = header.split(',').map((word) => word.trim().toLowerCase());
  const known = codings.filter((word) => DECODERS[word] !== undefined);
  const bad = codings.find((word) => UNDECODABLE.has(word) && DECODERS[word] === undefined);
  if (bad !== undefined || known.length > CODINGS_MAX) {
    const what = bad === undefined ? `${known.length} content codings` : `content coding ${bad}`;
    const message = `${host}: answered with ${what}, which cannot be undone here`;
    throw new HttpFailure('INVALID', message, { sent: true });
  }
  return known;
}

export async function decodeBody(
  body: Buffer,
  codings: readonly string[],
  limits: BodyLimits,
): Promise<Buffer> {
  // The answer to HEAD says how its body would be coded, and has none.
  if (body.length === 0) return body;
  let bytes = body;
  for (const coding of codings.toReversed()) bytes = await undo(bytes, coding, limits);
  return bytes;
}

async function undo(bytes: Buffer, coding: string, { host, maxBytes }: BodyLimits): Promise<Buffer> {
  const decoder = coding === 'deflate' && !hasZlibHead(bytes) ? rawDeflate : DECODERS[coding];
  if (!decoder) return bytes;
  try {
    return decodeSmall(bytes, decoder, maxBytes) ?? (await decodeLarge(bytes, decoder, maxBytes));
  } catch (error) {
    const code = codeOf(error);
    if (code === TOO_LARGE) throw tooLarge(host, maxBytes);
    // The data ended too early: the answer was cut, which the next try may cure.
    const kind = code === 'Z_BUF_ERROR' ? 'NETWORK' : 'INVALID';
    const what = `the page is not ${coding} as it says: ${describe(error)}`;
    throw new HttpFailure(kind, `${host}: ${what}`, { cause: error, sent: true });
  }
}

const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

/** Undefined if it turns out not to be small. */
function decodeSmall(bytes: Buffer, decoder: Decoder, maxBytes: number): Buffer | undefined {
  if (bytes.length > SMALL.coded) return undefined;
  try {
    const maxOutputLength = Math.min(SMALL.decoded, maxBytes);
    return decoder.now(bytes, { maxOutputLength, chunkSize: SMALL.chunkSize });
  } catch (error) {
    if (codeOf(error) === TOO_LARGE && SMALL.decoded < maxBytes) return undefined;
    throw error;
  }
}

function decodeLarge(bytes: Buffer, decoder: Decoder, maxBytes: number): Promise<Buffer> {
  return decoder.later(bytes, { maxOutputLength: maxBytes, chunkSize: LARGE_CHUNK });
}

/** Some servers send `deflate` without the zlib frame that the standard asks for. */
function hasZlibHead(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] ?? 0) & 15) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

export function tooLarge(host: string, maxBytes: number): HttpFailure {
  return new HttpFailure('REJECTED', `${host}: the page is larger than ${maxBytes} bytes`, {
    hint: 'Raise the limit of the body if such pages are wanted.',
    sent: true,
  });
}
