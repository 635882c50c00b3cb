/** Bodies that are slow, endless, swollen, cut, or not what they say. */
import { gzipSync } from 'node:zlib';
import { CHARSET_SAMPLES, encodeText, isCharset, type Charset } from '../encode-text.ts';
import { pour } from '../pour.ts';
import { pause, readNumber, sendText, type Pages, type Visit } from '../visit.ts';
import { sendNotFound } from './catalogue.ts';

const MIB = 1024 * 1024;
const WAIT_MAX_MS = 600_000;
const PIECE = Buffer.alloc(64 * 1024, 'The quick brown fox jumps over the lazy dog.\n');
/** What one piece of the bomb becomes; a gzip stream may be any number of such pieces, one after the other. */
const BOMB_PIECE_BYTES = 4 * MIB;

export function bodyPages(): Pages {
  let bomb: Buffer | undefined;
  return {
    async slow(visit) {
      const ms = readNumber(visit, 'ms', { fallback: 1000, max: WAIT_MAX_MS });
      if (await pause(visit, ms)) sendText(visit, `after ${ms} ms`);
    },
    async drip(visit) {
      const bytes = readNumber(visit, 'bytes', { fallback: 600, max: 1e6 });
      const ms = readNumber(visit, 'ms', { fallback: 1000, min: 1, max: WAIT_MAX_MS });
      begin(visit, { 'content-length': bytes });
      for (let sent = 0; sent < bytes; sent += 1) {
        visit.response.write('.');
        if (!(await pause(visit, ms))) return;
      }
      visit.response.end();
    },
    endless(visit) {
      begin(visit);
      flow(visit, PIECE, Infinity);
    },
    big(visit) {
      const bytes = Math.floor(readNumber(visit, 'bytes', { fallback: MIB, max: 1e12 }));
      begin(visit, visit.query.has('chunked') ? {} : { 'content-length': bytes });
      flow(visit, PIECE, bytes);
    },
    bomb(visit) {
      bomb ??= gzipSync(Buffer.alloc(BOMB_PIECE_BYTES), { level: 9 });
      const pieces = Math.ceil(
        (readNumber(visit, 'mb', { fallback: 512, max: 100_000 }) * MIB) / BOMB_PIECE_BYTES,
      );
      begin(visit, { 'content-encoding': 'gzip', 'content-type': 'text/html' });
      flow(visit, bomb, bomb.length * pieces);
    },
    truncated(visit) {
      begin(visit, visit.query.has('chunked') ? {} : { 'content-length': PIECE.length });
      visit.response.write(PIECE.subarray(0, 1000), () => visit.request.socket.destroy());
    },
    'bad-gzip'(visit) {
      const good = gzipSync(PIECE.subarray(0, 4096));
      const kind = visit.query.get('kind') ?? 'plain';
      const body = kind === 'cut' ? good.subarray(0, good.length - 20) : PIECE.subarray(0, 4096);
      begin(visit, {
        'content-encoding': kind === 'unknown' ? 'x-unknown' : 'gzip',
        'content-length': body.length,
      });
      visit.response.end(body);
    },
    charset(visit) {
      if (isCharset(visit.rest)) sendInCharset(visit, visit.rest);
      else sendNotFound(visit);
    },
  };
}

function begin({ response }: Visit, headers: Record<string, string | number> = {}): void {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', ...headers });
}

function flow({ request, response }: Visit, piece: Buffer, bytes: number): void {
  // A response to HEAD swallows what is written without ever asking to wait.
  if (request.method === 'HEAD') response.end();
  else pour(response, { piece, bytes });
}

/** `declare` = where the charset is named: header, meta, bom, none, or `lie` (the header names another). */
function sendInCharset({ query, response }: Visit, charset: Charset): void {
  const declare = query.get('declare') ?? 'header';
  const lie = charset === 'utf-8' ? 'iso-8859-1' : 'utf-8';
  const named = { header: `; charset=${charset}`, lie: `; charset=${lie}` }[declare] ?? '';
  const meta = declare === 'meta' ? `<meta charset="${charset}">` : '';
  const mark = declare === 'bom' && charset.startsWith('utf') ? '\ufeff' : '';
  const page = `${mark}<!DOCTYPE html><html><head>${meta}<title>Charset</title></head><body><p id="sample">${CHARSET_SAMPLES[charset]}</p></body></html>`;
  const body = encodeText(page, charset);
  response.writeHead(200, { 'content-type': `text/html${named}`, 'content-length': body.length });
  response.end(body);
}
