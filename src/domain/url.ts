/**
 * One spelling per address. Two links that a browser would fetch alike become the same text, and the id of a task
 * is made from that text; the task itself keeps the link as it was written.
 */
import { Failure } from './failure.ts';

export const URL_MAX_LENGTH = 8192;

export interface NormalizeOptions {
  /** Leave out the parameters that only tell an advertiser where the visitor came from. */
  readonly dropTracking?: boolean;
}

// A browser would also take `http:x`, `http:///x` and `http:\x`, and guess; a guess must not become a fetch.
const OPENING = /^https?:\/\/[^/?#\\]/i;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
const BREAK = /[\t\n\r]/;

const TRACKING = new Set(
  (
    'gclid gclsrc dclid gbraid wbraid srsltid fbclid msclkid yclid ysclid twclid ttclid igshid epik mc_cid mc_eid ' +
    '_ga _gl _hsenc _hsmi mkt_tok li_fat_id vero_id oly_anon_id oly_enc_id wickedid'
  ).split(' '),
);

/** The one spelling of an http(s) address; `INVALID` with the reason for anything else. Doing it twice changes nothing. */
export function normalizeUrl(raw: string, options: NormalizeOptions = {}): string {
  const { href } = parseUrl(raw);
  const hash = href.indexOf('#');
  const bare = hash === -1 ? href : href.slice(0, hash);
  const mark = bare.indexOf('?');
  if (mark === -1) return bare;
  const query = normalizeQuery(bare.slice(mark + 1), options.dropTracking === true);
  return query === '' ? bare.slice(0, mark) : `${bare.slice(0, mark)}?${query}`;
}

/** An address, and what it was before tracking parameters were left out. */
export interface CleanUrl {
  readonly url: string;
  /** As it was written, where that is something else. */
  readonly raw?: string;
}

/** The address as it was written, unless it has tracking parameters: then its one spelling without them. */
export function withoutTracking(written: string): CleanUrl {
  const url = normalizeUrl(written, { dropTracking: true });
  return url === normalizeUrl(written) ? { url: written } : { url, raw: written };
}

/** Host and, unless it is the scheme's own, port: what politeness and egress go by. */
export function hostOf(url: string): string {
  return parseUrl(url).host;
}

function parseUrl(raw: string): URL {
  const text = raw.trim();
  if (text.length > URL_MAX_LENGTH) throw tooLong();
  if (!OPENING.test(text)) throw new Failure('INVALID', wordsFor(text), { hint: HINT });
  // The standard removes these without a word, which would join two lines into one address.
  if (BREAK.test(text)) throw new Failure('INVALID', 'not a URL: it has a tab or a line break in it');
  const url = readUrl(text);
  if (url.username !== '' || url.password !== '') {
    throw new Failure('INVALID', 'the URL has a user and password in it', {
      hint: 'Leave them out, and let the scraper sign in.',
    });
  }
  if (url.href.length > URL_MAX_LENGTH) throw tooLong();
  return url;
}

/** Not with `URL.canParse`: once optimised, Node 20's says no to good addresses such as http://bücher.example. */
function readUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // Without the cause, which repeats the text.
    throw new Failure('INVALID', 'not a URL: its host or port cannot be read', { hint: HINT });
  }
}

const HINT = 'Write the whole address, such as https://example.com/page.';

function tooLong(): Failure {
  return new Failure('INVALID', `the URL is too long: at most ${URL_MAX_LENGTH} characters`);
}

/** Never with the text itself: it may hold a password. */
function wordsFor(text: string): string {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'not a URL: it does not begin with http:// or https://';
  // `example.com:80` and `user:password@host` look like a scheme too, and only the part before `://` surely is one.
  if (scheme !== 'http' && scheme !== 'https') {
    return text.startsWith('://', scheme.length)
      ? `not a URL of a page: only http and https, not ${scheme.slice(0, 20)}`
      : 'not a URL: only http and https, and it begins with neither';
  }
  return /^https?:\/\//i.test(text) ? 'the URL has no host' : `not a URL: ${scheme}: must go on with //`;
}

/** Sorted by name; parameters of one name keep their order, and nothing is decoded or encoded anew. */
function normalizeQuery(query: string, dropTracking: boolean): string {
  if (!query.includes('&')) return dropTracking && isTracking(nameOf(query)) ? '' : query;
  const pairs = query
    .split('&')
    .map((text) => ({ text, name: nameOf(text) }))
    .filter(({ text, name }) => text !== '' && !(dropTracking && isTracking(name)));
  pairs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return pairs.map(({ text }) => text).join('&');
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return equals === -1 ? pair : pair.slice(0, equals);
}

function isTracking(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.startsWith('utm_') || TRACKING.has(lower);
}
