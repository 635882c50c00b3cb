/** A session while a worker has it: its cookies as a jar, and what the manager must hear of it. */
import { CookieJar } from 'tough-cookie';
import type { SessionHandle } from '../scrapers/page.ts';
import type { LeaseSession, SessionNews } from '../wire/egress.ts';

export interface LiveSession extends SessionHandle {
  readonly jar: CookieJar;
  readonly isInvalid: () => boolean;
  /** It was found fit, or made so. */
  readonly markValid: () => void;
  /** A new one gets the user agent of whoever uses it first, and keeps it. */
  readonly adopt: (userAgent: string) => void;
  readonly noteCookies: () => void;
  /** What to report after a request, with what has changed since the last time. */
  readonly news: (verdict: SessionNews['verdict']) => SessionNews;
}

export function createLiveSession(given: LeaseSession): LiveSession {
  const jar = readJar(given.cookies);
  let { state, headers, validUntil, userAgent } = given;
  let cookiesChanged = false;
  let factsChanged = false;
  let invalid = false;

  return {
    id: given.id,
    jar,
    get userAgent() {
      return userAgent;
    },
    get state() {
      return state;
    },
    get headers() {
      return headers;
    },
    get validUntil() {
      return validUntil;
    },
    cookie: (name, url) => jar.getCookiesSync(url).find(({ key }) => key === name)?.value,
    setCookie(cookie, url) {
      jar.setCookieSync(cookie, url, { ignoreError: true });
      cookiesChanged = true;
    },
    setHeaders(changed) {
      headers = { ...headers, ...changed };
      factsChanged = true;
    },
    setValidUntil(at) {
      validUntil = at;
      factsChanged = true;
    },
    invalidate: () => void (invalid = true),
    isInvalid: () => invalid,
    markValid: () => void (state = 'valid'),
    adopt(offered) {
      if (userAgent !== '') return;
      userAgent = offered;
      factsChanged = true;
    },
    noteCookies: () => void (cookiesChanged = true),
    news(verdict) {
      const news = {
        id: given.id,
        verdict: invalid ? ('invalid' as const) : verdict,
        ...(cookiesChanged && { cookies: JSON.stringify(jar.serializeSync()) }),
        ...(factsChanged && { headers, userAgent, ...(validUntil !== undefined && { validUntil }) }),
      };
      cookiesChanged = factsChanged = false;
      return news;
    },
  };
}

/** Cookies that cannot be read are none: the session signs in again. */
function readJar(cookies: string): CookieJar {
  try {
    return cookies === '' ? new CookieJar() : CookieJar.deserializeSync(cookies);
  } catch {
    return new CookieJar();
  }
}
