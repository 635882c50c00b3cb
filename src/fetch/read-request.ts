/** What a handler asked for, checked and filled in. */
import { Failure } from '../domain/failure.ts';
import type { FetchOptions } from '../scrapers/page.ts';
import type { Scraper } from '../scrapers/scraper.ts';
import type { FetchSettings } from './fetch-parts.ts';
import type { CachedPage } from './page-cache.ts';
import type { HeaderList } from './profiles.ts';
import type { HopRequest } from './send-hop.ts';

export interface PageRequest extends HopRequest {
  readonly maxRedirects: number;
  readonly accept: FetchOptions['accept'];
  readonly robots: boolean;
  readonly cache: boolean;
  /** Since the last page of the attempt. */
  readonly delayMs: number;
}

const METHOD = /^[A-Z]{1,20}$/;
const NONE: HeaderList = [];

export function readRequest(
  address: string | URL,
  options: FetchOptions,
  scraper: Pick<Scraper, 'robots' | 'engine'>,
  settings: FetchSettings,
): PageRequest {
  const url = readUrl(address);
  const method = (options.method ?? 'GET').toUpperCase();
  if (!METHOD.test(method)) throw new Failure('INVALID', 'that is not a method of HTTP');
  if (options.body !== undefined && options.json !== undefined)
    throw new Failure('INVALID', 'a request has one body: either `body` or `json`');
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw new Failure('INVALID', `${method} takes no body`, { hint: "Set `method: 'POST'`." });
  const conditions = conditionsOf(options);
  const given = options.headers ? Object.entries(options.headers) : NONE;
  const engine = options.engine ?? scraper.engine ?? 'http';
  if (engine === 'browser') checkForBrowser(method, options);
  return {
    url,
    method,
    headers: conditions.length === 0 ? given : [...conditions, ...given],
    engine,
    waitFor: options.waitFor ?? 'load',
    body,
    profile: options.profile ?? settings.profile,
    timeoutMs: options.timeoutMs ?? settings.timeouts.totalMs,
    maxBytes: options.maxBytes ?? settings.maxBytes,
    http2: options.http2 ?? settings.http2,
    maxRedirects: options.maxRedirects ?? settings.maxRedirects,
    accept: options.accept,
    delayMs: options.delayMs ?? 0,
    robots: options.robots ?? scraper.robots ?? settings.robots,
    cache: options.cache === true && method === 'GET' && conditions.length === 0 && engine === 'http',
  };
}

function conditionsOf({ etag, lastModified, json }: FetchOptions): HeaderList {
  if (etag === undefined && lastModified === undefined && json === undefined) return NONE;
  return [
    ...(etag === undefined ? [] : [['if-none-match', etag] as const]),
    ...(lastModified === undefined ? [] : [['if-modified-since', lastModified] as const]),
    ...(json === undefined ? [] : [['content-type', 'application/json'] as const]),
  ];
}

function checkForBrowser(method: string, { headers = {}, etag, lastModified }: FetchOptions): void {
  if (method !== 'GET' || etag !== undefined || lastModified !== undefined)
    throw new Failure('INVALID', 'a browser opens pages with GET, and without conditions', {
      hint: "Set `engine: 'http'` for this one.",
    });
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'cookie'))
    throw new Failure('INVALID', 'a browser sends the cookies that it has, and no others', {
      hint: 'Give the cookie to the session: session.setCookie(…).',
    });
}

/** The same, if the page has changed since. */
export function conditional(request: PageRequest, { etag, lastModified }: CachedPage): PageRequest {
  return {
    ...request,
    headers: [
      ...(etag === undefined ? [] : [['if-none-match', etag] as const]),
      ...(lastModified === undefined ? [] : [['if-modified-since', lastModified] as const]),
      ...request.headers,
    ],
  };
}

/** Not with the text itself: it may hold a password. */
function readUrl(given: string | URL): URL {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new Failure('INVALID', 'not a URL', { hint: 'Give the whole address: new URL(link, page.url).' });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Failure('INVALID', `only http and https can be fetched, not ${url.protocol.slice(0, 20)}`);
  if (url.username !== '' || url.password !== '')
    throw new Failure('INVALID', 'the URL has a user and password in it', {
      hint: 'Send them as a header: headers: { authorization: … }.',
    });
  return url;
}
