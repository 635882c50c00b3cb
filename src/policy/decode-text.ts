/**
 * A page's bytes as text. The order is that of browsers: a byte order mark, what the header says, what the page says of
 * itself (in a <meta> or an XML declaration), and at last a guess: UTF-8 if the bytes are that, else windows-1252.
 */
import { TextDecoder } from 'node:util';

const PRESCAN_BYTES = 1024;
const BINARY_UTF16 = /^utf-?16(?:le|be)?$/;

const HEADER = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))/i;
const META = /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i;
const XML = /^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/i;

export function decodeText(body: Uint8Array, contentType: string | undefined): string {
  const { label } = findCharset(body, contentType);
  const decoder = decoderOf(label);
  // In one go, Node takes windows-1252 for ISO 8859-1 and loses the euro sign (nodejs/node#56542); as a stream it does not.
  if (decoder.encoding === 'windows-1252') return decoder.decode(body, { stream: true }) + decoder.decode();
  // Wrong bytes become U+FFFD: a page with one bad letter is still a page.
  return decoder.decode(body);
}

export interface Charset {
  /** A label that `TextDecoder` knows. */
  readonly label: string;
  readonly from: 'bom' | 'header' | 'page' | 'guess';
}

export function findCharset(body: Uint8Array, contentType: string | undefined): Charset {
  const marked = byMark(body);
  if (marked !== undefined) return { label: marked, from: 'bom' };
  const header = knownLabel(
    HEADER.exec(contentType ?? '')
      ?.slice(1)
      .find(Boolean),
  );
  if (header !== undefined) return { label: header, from: 'header' };
  const page = byPage(body);
  if (page !== undefined) return { label: page, from: 'page' };
  return { label: isUtf8(body) ? 'utf-8' : 'windows-1252', from: 'guess' };
}

function byMark(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return undefined;
}

function byPage(body: Uint8Array): string | undefined {
  const seen = Math.min(body.byteLength, PRESCAN_BYTES);
  const start = Buffer.from(body.buffer, body.byteOffset, seen).toString('latin1');
  const label = knownLabel(META.exec(start)?.[1] ?? XML.exec(start)?.[1]);
  // We have just read it byte by byte, so it cannot be UTF-16, whatever it says.
  return label !== undefined && BINARY_UTF16.test(label) ? 'utf-8' : label;
}

/** A page that was cut within a letter (patterns see only its beginning) is still UTF-8. */
function isUtf8(body: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
    return true;
  } catch {
    return false;
  }
}

// A handful of labels occur; the bound is for pages that make them up.
const DECODERS = new Map<string, TextDecoder>();
const DECODERS_MAX = 64;

function decoderOf(label: string): TextDecoder {
  const known = DECODERS.get(label);
  if (known) return known;
  const decoder = new TextDecoder(label);
  if (DECODERS.size < DECODERS_MAX) DECODERS.set(label, decoder);
  return decoder;
}

function knownLabel(label: string | undefined): string | undefined {
  if (label === undefined || label === '') return undefined;
  const lower = label.trim().toLowerCase();
  try {
    decoderOf(lower);
    return lower;
  } catch {
    return undefined;
  }
}
